/** Dark, light, or as the system has it. */

export type ThemeChoice = "system" | "dark" | "light";

const KEY = "logpose-theme";

const chosen = (data: unknown): ThemeChoice => (data === "dark" || data === "light" ? data : "system");

class Theme {
  choice = $state<ThemeChoice>("system");
  #system = $state<"dark" | "light">("dark");
  readonly shown = $derived(this.choice === "system" ? this.#system : this.choice);

  /** To be called once, where effects live. */
  watch(): void {
    this.choice = chosen(stored());
    const query = matchMedia("(prefers-color-scheme: light)");
    const look = () => (this.#system = query.matches ? "light" : "dark");
    look();
    $effect(() => {
      query.addEventListener("change", look);
      return () => query.removeEventListener("change", look);
    });
    $effect.pre(() => {
      document.documentElement.dataset["theme"] = this.shown;
    });
  }

  choose(choice: ThemeChoice): void {
    this.choice = choice;
    try {
      localStorage.setItem(KEY, choice);
    } catch {
      // A browser that keeps nothing still shows it.
    }
  }

  /** The other one than is shown. */
  toggle(): void {
    this.choose(this.shown === "dark" ? "light" : "dark");
  }
}

function stored(): string | null {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}

export const theme = new Theme();
