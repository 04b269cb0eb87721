// The frame of the page: which view is on screen, light or dark, the settings, the keyboard.
import { ApiError, defaults, models } from "./api.js";
import * as chat from "./chat.js";
import * as dashboard from "./dashboard.js";
import { byId, element } from "./elements.js";
import * as store from "./store.js";
import * as tools from "./tools.js";

function route() {
  const isDashboard = location.hash === "#dashboard";
  byId("chat").hidden = isDashboard;
  byId("dashboard").hidden = !isDashboard;
  byId("show-chat").ariaCurrent = isDashboard ? null : "page";
  byId("show-dashboard").ariaCurrent = isDashboard ? "page" : null;
  if (isDashboard) {
    dashboard.show();
  } else {
    dashboard.hide();
  }
}

// ---- light or dark ----

function showTheme(theme) {
  if (theme) {
    document.documentElement.dataset.theme = theme;
  }
}

function switchTheme() {
  const isDark = getComputedStyle(document.documentElement).colorScheme === "dark"
    || (!document.documentElement.dataset.theme && matchMedia("(prefers-color-scheme: dark)").matches);
  const theme = isDark ? "light" : "dark";
  store.saveSettings({ ...store.settings(), theme });
  showTheme(theme);
}

// ---- settings ----

function fillSettings() {
  const saved = { ...chat.settings(), key: store.settings().key };
  for (const field of byId("options").elements) {
    if (field.name) {
      field.value = saved[field.name] ?? "";
    }
  }
  showTools();
}

function showTools() {
  tools.drawSwitches(chat.settings(), (names) => chat.set("tools", names));
}

function saveSettings(event) {
  if (event.target.checkValidity()) {
    const { name, value } = event.target;
    if (name === "key") {
      store.saveSettings({ ...store.settings(), key: value });
      showModels();
    } else {
      chat.set(name, value);
    }
  } else {
    event.target.reportValidity();
  }
}

async function showModels() {
  const select = byId("model");
  try {
    const names = await models();
    select.replaceChildren(...names.map((name) => element("option", { value: name }, name)));
    const wanted = store.settings().model;
    if (names.includes(wanted)) {
      select.value = wanted;
    }
    showDefaults();
    await tools.load();
    showTools();
  } catch (failure) {
    select.replaceChildren(element("option", { value: "" }, failure.status === 401 ? "needs an API key" : "no models"));
    if (failure.status === 401 || failure.status === 403) {
      togglePanel(true, "key");
    }
  }
}

/** Shows in each empty setting what then holds; nothing where that is not known, as of a model that is not loaded. */
async function showDefaults() {
  const model = byId("model").value;
  const known = await defaults(model).catch((failure) => {
    if (failure instanceof ApiError) {
      return null;
    }
    throw failure;
  });
  if (model === byId("model").value) {
    const { context, ...values } = known ?? {};
    const shown = { ...values, max_completion_tokens: context && `≤ ${context}`, seed: known && "random" };
    for (const field of byId("options").elements) {
      if (field.type === "number") {
        field.placeholder = shown[field.name] ?? "";
      }
    }
  }
}

/** Shows the settings, ready to fill in one of them, or hides them. */
function togglePanel(shown, field = "system") {
  byId("panel").hidden = !shown;
  byId("settings").ariaExpanded = String(shown);
  if (shown) {
    byId("options").elements[field].focus();
  }
}

// ---- the keyboard ----

function onKey(event) {
  if (event.key === "Escape") {
    chat.stop();
    chat.stopEditing();
    togglePanel(false);
    byId("sidebar").classList.remove("open");
  } else if (event.altKey && event.code === "KeyN") {
    event.preventDefault();
    location.hash = "chat";
    chat.begin();
  } else if (event.altKey && event.key === "ArrowUp") {
    event.preventDefault();
    chat.editLast();
  }
}

showTheme(store.settings().theme);
document.addEventListener("conversation", fillSettings);
byId("options").addEventListener("change", saveSettings);
byId("options").addEventListener("submit", (event) => event.preventDefault());
byId("theme").addEventListener("click", switchTheme);
byId("settings").addEventListener("click", () => togglePanel(byId("panel").hidden));
byId("menu").addEventListener("click", () => {
  const isOpen = byId("sidebar").classList.toggle("open");
  byId("menu").ariaExpanded = String(isOpen);
});
byId("model").addEventListener("change", () => {
  store.saveSettings({ ...store.settings(), model: byId("model").value });
  showDefaults();
});
window.addEventListener("hashchange", route);
document.addEventListener("keydown", onKey);
chat.start();
route();
showModels();
