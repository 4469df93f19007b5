"""What PersonaRAG (arXiv 2407.09394, table 2) published: accuracies in per cent, and over how many logged questions."""

from __future__ import annotations

METHODS = ("vanilla_chatgpt", "guideline", "vanilla_rag", "cot", "con", "self_rerank", "cognitive")
"""In the order of the table; `cognitive` is PersonaRAG's own answer."""

MODEL = "gpt-3.5-turbo-0125"

SCORED = {("nq", 3): 41, ("nq", 5): 41, ("triviaqa", 3): 38, ("triviaqa", 5): 38, ("webq", 3): 52, ("webq", 5): 40}
"""Questions behind each published figure: the first so many logged ones by index (more were logged in two cases)."""

ACCURACY = {
    ("nq", 3): (43.90, 17.07, 36.58, 39.02, 48.78, 43.90, 49.02),
    ("nq", 5): (41.46, 21.95, 41.46, 41.46, 48.78, 51.21, 48.78),
    ("triviaqa", 3): (97.36, 42.10, 78.94, 89.47, 81.57, 81.57, 94.73),
    ("triviaqa", 5): (97.36, 36.84, 81.57, 89.47, 92.10, 84.21, 89.47),
    ("webq", 3): (59.61, 36.53, 38.46, 57.69, 57.17, 32.63, 63.46),
    ("webq", 5): (62.43, 47.21, 50.14, 67.51, 65.15, 40.26, 67.50),
}
