use std::io;
use std::process::{Child, Command, Stdio};
use std::thread;

/// Shows a page in the browser of whoever sits here. Nothing happens where nobody does, as over ssh.
pub(super) fn show(url: &str) -> io::Result<()> {
    let Some(mut command) = command(url) else { return Ok(()) };
    let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child: Child = apart(child).spawn()?;
    // The one who opens browsers is done at once; some browsers stay as long as their window does.
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
    // What `start` does, without a shell that would take `&` and `%` in the address for its own.
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

/// Ctrl-C is for us, not for the browser.
#[cfg(unix)]
fn apart(command: &mut Command) -> &mut Command {
    std::os::unix::process::CommandExt::process_group(command, 0)
}

#[cfg(not(unix))]
fn apart(command: &mut Command) -> &mut Command {
    command
}
