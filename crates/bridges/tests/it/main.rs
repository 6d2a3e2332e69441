mod mcap;
mod text;
