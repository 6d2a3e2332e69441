import { mount } from "svelte";
import App from "./App.svelte";
import "./theme.css";
import { logs } from "./store/session.svelte";

const target = document.getElementById("app");
if (target) mount(App, { target });
void logs.open();
