//! Plots as SVG, PNG and text.
