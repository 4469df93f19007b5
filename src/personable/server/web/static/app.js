"use strict";
const csrf = () => document.querySelector("meta[name=csrf]").content;
const side = document.getElementById("side");

function made(tag, className, text = "") {
  const element = document.createElement(tag);
  element.className = className;
  element.textContent = text;
  return element;
}

// A form sent as htmx would send it; who is not signed in any more is led to where they can.
async function sent(url, data, accept) {
  const headers = { "X-CSRF-Token": csrf(), "HX-Request": "true", Accept: accept };
  const response = await fetch(url, { method: "POST", body: data, headers });
  if (response.status === 401) {
    sessionStorage.setItem("unsent", data.get("question") || "");
    location.assign(response.headers.get("HX-Redirect") || "/sign-in");
  }
  return response;
}

// Server-sent events of a response, one at a time: name and value.
async function* events(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let held = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    held += value;
    const blocks = held.split("\n\n");
    held = blocks.pop();
    for (const block of blocks) {
      const name = block.match(/^event: (.*)$/m);
      const data = [...block.matchAll(/^data: (.*)$/gm)].map((line) => line[1]).join("\n");
      if (name && data) yield [name[1], JSON.parse(data)];
    }
  }
}

function replaced(element, html) {
  const holder = document.createElement("template");
  holder.innerHTML = html;
  const fresh = holder.content.firstElementChild;
  element.replaceWith(fresh);
  htmx.process(fresh);
  return fresh;
}

const ask = document.getElementById("ask");
if (ask) {
  const question = ask.elements.question;
  question.value ||= sessionStorage.getItem("unsent") || "";
  sessionStorage.removeItem("unsent");
  question.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      ask.requestSubmit();
    }
  });
  ask.addEventListener("submit", (event) => {
    event.preventDefault();
    const next = event.submitter && event.submitter.name === "next" ? event.submitter.value : "";
    if (next || question.value.trim()) answer(next || question.value);
  });
}

async function answer(text) {
  const data = new URLSearchParams(new FormData(ask));
  data.set("question", text);
  ask.elements.question.value = "";
  document.getElementById("empty")?.remove();
  const turn = made("article", "turn");
  const said = made("p", "text");
  const looked = made("details", "looked");
  const steps = made("ol", "");
  said.setAttribute("role", "status");
  turn.setAttribute("aria-busy", "true");
  looked.open = true;
  looked.append(made("summary", "", "What I look at"), steps);
  turn.append(made("h2", "said", text), said, looked);
  document.getElementById("turns").append(turn);
  turn.scrollIntoView({ block: "start" });
  ask.classList.add("busy");
  let ended = false;
  try {
    const response = await sent("/ask", data, "text/event-stream");
    if (!response.ok) {
      said.innerHTML = await response.text();
      return;
    }
    for await (const [name, value] of events(response)) {
      if (name === "step" && value) steps.append(made("li", "", value));
      if (name === "text") said.append(value);
      if (name === "final") {
        ended = true;
        const fresh = replaced(turn, value.html);
        if (value.session) kept(value.session, data.get("in"));
        fresh.scrollIntoView({ block: "start" });
      }
    }
    if (!ended) throw new Error("the stream has no end");
  } catch (error) {
    said.append(made("span", "problem", "The connection broke before the answer was there. Ask again."));
  } finally {
    if (!ended) ask.elements.question.value ||= text;
    turn.removeAttribute("aria-busy");
    ask.classList.remove("busy");
  }
}

// The conversation goes on, also when the page is loaded again.
function kept(session, collection) {
  ask.elements.session.value = session;
  history.replaceState(null, "", "/ask?" + new URLSearchParams({ in: collection, session }));
}

document.addEventListener("htmx:afterSwap", (event) => {
  if (event.detail.target.id !== "side-body") return;
  if (!side.open) side.showModal();
  document.getElementById("quoted")?.scrollIntoView({ block: "center" });
});
side.addEventListener("click", (event) => event.target === side && side.close());
document.addEventListener("htmx:beforeRequest", () => document.getElementById("notice").replaceChildren());

const upload = document.getElementById("upload");
if (upload) {
  upload.addEventListener("submit", async (event) => {
    event.preventDefault();
    const { into, kind, files, folder } = upload.elements;
    const chosen = [...files.files, ...folder.files];
    const job = document.getElementById("job");
    if (upload.classList.contains("busy") || job.querySelector("[hx-get]")) return; // pressed twice
    if (!chosen.length) return job.replaceChildren(made("p", "problem", "Choose files or a folder first."));
    const data = new FormData();
    data.set("kind", kind.value);
    for (const file of chosen) data.append("files", file, file.webkitRelativePath || file.name);
    job.replaceChildren(made("p", "hint", `Sending ${chosen.length} files …`));
    upload.classList.add("busy");
    try {
      const response = await sent(`/collections/${encodeURIComponent(into.value)}/upload`, data, "text/html");
      job.innerHTML = await response.text();
    } catch (error) {
      job.replaceChildren(made("p", "problem", "The connection broke before all was sent. Send it again."));
    } finally {
      upload.classList.remove("busy");
    }
    htmx.process(job);
  });
}
