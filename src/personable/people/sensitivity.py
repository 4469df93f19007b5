"""Whether a statement is sensitive, by its words: the special categories of the GDPR (article 9), and money and crime.

It may only say "sensitive". What no word gives away stays unclassified, which counts as sensitive too, until the person
says otherwise.
"""

from __future__ import annotations

import re
from typing import Literal

Topic = Literal["health", "beliefs", "politics", "sexuality", "origin", "finances", "crime"]

# Beginnings of words, English and Italian. A dollar sign ends a word whose beginning alone would say too much; an
# underscore stands for white space.
_STEMS: dict[Topic, str] = {
    "health": (
        "abortion adhd$ addict aids$ alcoholi allerg anaem anemi anorexi ansia$ ansios antidepress anxi "
        "arthrit artrit asma$ asmatic asthma autis bipolar bloat blood_(?:pressure|sugar) bmi$ bulimi cancer "
        "cancro cardiopat celiac chemo chirurg cholesterol cirrho cirros coeliac colesterol contraccett "
        "contracept copd$ covid crohn cuore$ dementia demenza depress diabet diagnos dialisi dialys digesti "
        "disab disturb[oi]$ drog drug dyslex dislessi eczema emicrani endometrios epatit epilep fibromyalg "
        "fumator gestational gestazional glaucom gluten glutin gotta$ gout$ gravidanza haemo "
        "heart_(?:attack|condition|disease|failure|problem|surgery) hemo hepatit hiv$ hospital(?:s|i[sz]ed)?$ "
        "hyperten hypothyr ictus$ ill$ illness incint infart infert infortun injur insomni insonni insulin "
        "intoleran ipertens ipotiroid kidney leucem leukaem leukem lupus malat malatti medicat medicin "
        "menopaus mental_health migrain miscarr obes ospedal osteopor overweight painkill panic_attack "
        "parkinson patolog pillol pregnan psichiatr psicolog psicoterap psychiatr psychother rehab$ renal "
        "reni$ sclerosi sedia_a_rotelle sick$ sickness sintom smok(?:e|er|ers|ing)$ sovrappeso stress stroke$ "
        "suffer suicid surger surgical symptom terapi$ terapia therap thyroid tiroid transplant trapiant "
        "tumor tumour ulcer vaccin weight_loss wheelchair"
    ),
    "beliefs": (
        "agnosti ateo$ atea$ atheis baptis$ baptist believ(?:e|er|ing)_in bibbia bible buddh buddis cattolic "
        "catholic chiesa church cristian christian credente credo_in dio$ ebraic ebre[aeio]$ evangelic faith$ "
        "geova god$ halal hindu hinduism induis induist islam jehovah jew$ jewish jews$ koran corano kosher "
        "mormon moschea mosque muslim musulman ortodoss pray$ prayer preghiera protestant quaker ramadan "
        "religi sikh sinagoga synagogue torah worship"
    ),
    "politics": (
        "activis anarch attivist communis comunist democrat di_destra di_sinistra elector fascis fascist "
        "green_party labour_party left-wing leftist marxis nationalis nazionalis partito party_member politic "
        "republican repubblican right-wing sindacat socialis suffrag tories$ tory$ trade_union "
        "union_(?:member|rep) vot(?:e|ed|er|ing|ato|o)$"
    ),
    "sexuality": (
        "asessual asexual bisessual bisexual eterosessual gay$ gender heterosexual homosexual lesbi lgbt "
        "libido non-?binary omosessual pansexual queer same-sex sesso$ sessual sex$ sexual trans$ transess "
        "transex transgend"
    ),
    "origin": (
        "(?:i_am|i['’]m)_(?:black|white|asian|arab|african|latin[ao]) asilo_politico asylum deport etni[ac] "
        "ethnic immigra indigenous migrant mixed_race native_american naturali[sz]ed permesso_di_soggiorno "
        "racial refugee rifugiat skin_colou?r visa_status"
    ),
    "finances": (
        "bancarott bank_account bankrupt conto_corrente credit_card debit[oi]$ debt disoccup earn(?:s|ed)?$ "
        "eredit[àa] guadagn income inherit insolven invest(?:ed|ing|ment|ments|or)?$ loan mortgage mutuo$ "
        "net_worth overdraft pension povert prestit[oi]$ reddit[oi]$ risparmi salar savings social_benefit "
        "stipendi tass[ae]$ tax(?:es)?$ unemploy wages?$ welfare"
    ),
    "crime": (
        "arrest carcere condannat convict court_case crim(?:e|es|inal)$ fedina_penale felon imprison jail "
        "misdemean offender parole$ prigion prison probation reat[oi]$ sentenced theft"
    ),
}


def _pattern(stems: str) -> re.Pattern[str]:
    words = (stem.replace("_", r"\s+") for stem in stems.split())
    ends = (w[:-1] + r"\b" if w.endswith("$") else w for w in words)
    return re.compile(rf"\b(?<!['’])(?:{'|'.join(ends)})")


_PATTERNS: dict[Topic, re.Pattern[str]] = {topic: _pattern(stems) for topic, stems in _STEMS.items()}


def sensitive_topic(text: str) -> Topic | None:
    """The first sensitive topic that a word of `text` (English or Italian) belongs to; None where no word tells.

    It errs on the side of "sensitive": "my doctor is sick of politics" is sensitive. None never means harmless.
    """
    folded = text.casefold()
    return next((topic for topic, pattern in _PATTERNS.items() if pattern.search(folded)), None)


def classify(text: str) -> bool | None:
    """True for a text with a sensitive topic, else None: unclassified."""
    return True if sensitive_topic(text) else None
