import svelte from "eslint-plugin-svelte";
import { defineConfig, globalIgnores } from "eslint/config";
import tseslint from "typescript-eslint";

/**
 * The folders of src/, lowest first: each imports only itself and those before it. The shell and the files at the top put
 * everything together and import what they like.
 */
const LAYERS = ["api", "values", "draw", "model", "poses", "store", "ui", "output", "lists", "field", "carla", "views"];

const upwards = (folder) => ({
  regex: `^(\\.\\./)+(${[...LAYERS.slice(LAYERS.indexOf(folder) + 1), "shell"].join("|")})(/|$)`,
  message: `${folder}/ does not import folders above it; web/README.md has the order.`,
});

const sideways = {
  regex: "^\\.\\./[^.]",
  message: "A view does not import another view; what both need belongs into a shared folder.",
};

const restricted = (files, ...patterns) => ({
  files: [files],
  rules: { "no-restricted-imports": ["error", { patterns }] },
});

export default defineConfig(
  globalIgnores(["artefacts/", "src/api/types.ts"]),
  tseslint.configs.recommended,
  svelte.configs.recommended,
  {
    // svelte-check has the types of components; for ESLint an imported component is of type any.
    files: ["**/*.ts"],
    extends: [tseslint.configs.recommendedTypeCheckedOnly],
    languageOptions: { parserOptions: { projectService: true } },
  },
  {
    files: ["**/*.svelte", "**/*.svelte.ts"],
    languageOptions: { parserOptions: { parser: tseslint.parser } },
    rules: {
      // Caches are plain maps on purpose: nothing is drawn again because one grew.
      "svelte/prefer-svelte-reactivity": "off",
    },
  },
  LAYERS.map((folder) => restricted(`src/${folder}/**`, upwards(folder))),
  restricted("src/views/*/**", upwards("views"), sideways),
  { linterOptions: { reportUnusedDisableDirectives: "error" } },
);
