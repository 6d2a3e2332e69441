use std::io;
use std::process::{Child, Command, Stdio};
use std::thread;

/// Opens a page in the local browser. Does nothing without a desktop, for example over ssh.
pub(super) fn show(url: &str) -> io::Result<()> {
    let Some(mut command) = command(url) else { return Ok(()) };
    let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child: Child = apart(child).spawn()?;
    // Openers exit at once; some browsers run as long as their window.
    thread::Builder::new().name("browser".to_owned()).spawn(move || child.wait())?;
    Ok(())
}

#[cfg(target_os = "macos")]
fn command(url: &str) -> Option<Command> {
    let mut command = Command::new("open");
    command.arg(url);
    Some(command)
}

#[cfg(windows)]
fn command(url: &str) -> Option<Command> {
    // Does what `start` does, without a shell that would interpret `&` and `%` in the address.
    let mut command = Command::new("rundll32.exe");
    command.args(["url.dll,FileProtocolHandler", url]);
    Some(command)
}

#[cfg(not(any(windows, target_os = "macos")))]
fn command(url: &str) -> Option<Command> {
    let has = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let mut command = Command::new("xdg-open");
    command.arg(url);
    (has("DISPLAY") || has("WAYLAND_DISPLAY")).then_some(command)
}

/// Keeps Ctrl-C from reaching the browser.
#[cfg(unix)]
fn apart(command: &mut Command) -> &mut Command {
    std::os::unix::process::CommandExt::process_group(command, 0)
}

#[cfg(not(unix))]
fn apart(command: &mut Command) -> &mut Command {
    command
}
