import { mount } from "svelte";
import App from "./App.svelte";
import { registerViews } from "./store/views";
import "./ui/theme.css";
import { views } from "./views";

registerViews(views);
const target = document.getElementById("app");
if (target) mount(App, { target });
