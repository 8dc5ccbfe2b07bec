//! gpulab's commands as tools of the Model Context Protocol, over standard input and output.

mod confined;

use confined::Folders;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation,
    ListToolsResult, PaginatedRequestParams, ProgressNotificationParam, ServerCapabilities,
    ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt};
use serde::Deserialize;
use serde_json::{Value, json};
use std::error::Error;
use std::io::{self, Write};
use std::pin::pin;
use std::process::{Stdio, exit};
use std::time::{Duration, Instant};
use tokio::process::Command;
use tokio::sync::Mutex;

/// What clients read of each tool, and its command line, where `$NAME` stands for an argument.
const TOOLS: &str = include_str!("tools.json");

/// Between two reports of progress.
const PULSE: Duration = Duration::from_secs(2);

/// Variables that name folders for caches and passing files.
const SCRATCH: [&str; 5] = [
    "CUDA_CACHE_PATH",
    "MESA_SHADER_CACHE_DIR",
    "POCL_CACHE_DIR",
    "TMPDIR",
    "XDG_CACHE_HOME",
];

#[derive(Deserialize)]
struct Described {
    line: Vec<String>,
    tool: Tool,
}

struct Server {
    folders: Folders,
    tools: Vec<Described>,
    /// Two at once would disturb each other's times.
    turn: Mutex<()>,
}

impl Server {
    /// The command line of a call; or why it is refused.
    fn line(&self, asked: CallToolRequestParams) -> Result<Vec<String>, String> {
        let mut tools = self.tools.iter();
        let described = tools.find(|described| described.tool.name == asked.name);
        let described = described.ok_or("there is no such tool")?;
        let mut given = asked.arguments.unwrap_or_default();
        let mut line = Vec::new();
        for part in &described.line {
            let Some((before, name)) = part.split_once('$') else {
                line.push(part.clone());
                continue;
            };
            let values = match given.remove(name) {
                None | Some(Value::Null) => continue,
                Some(Value::Array(values)) => values,
                Some(value) => vec![value],
            };
            for value in values {
                let text = value.as_str().map_or(value.to_string(), str::to_owned);
                match (before, line.last_mut()) {
                    ("", _) => line.push(self.folders.inside(&text)?),
                    (":", Some(file)) => *file += &format!(":{text}"),
                    _ => line.push(format!("{before}{text}")),
                }
            }
        }
        match given.keys().next() {
            Some(unknown) => Err(format!("refused: there is no argument {unknown}")),
            None => Ok(line),
        }
    }

    /// Runs gpulab, with reports of progress, and returns its exit code, its JSON or text, and what it told beside them.
    async fn run(
        &self,
        asked: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResult, String> {
        let began = Instant::now();
        let token = context.meta.get_progress_token();
        let line = self.line(asked)?;
        let mut command = Command::new(&self.folders.gpulab);
        command.envs(SCRATCH.map(|name| (name, &self.folders.scratch)));
        command.args(&line).arg("--quiet");
        command.current_dir(&self.folders.own).kill_on_drop(true);
        let work = async {
            let _turn = self.turn.lock().await;
            command.stdin(Stdio::null()).output().await
        };
        let mut work = pin!(work);
        let output = loop {
            tokio::select! {
                output = &mut work => break output.map_err(|why| format!("gpulab does not start: {why}"))?,
                () = context.ct.cancelled() => return Err("cancelled".to_owned()),
                () = tokio::time::sleep(PULSE) => {}
            }
            if let Some(token) = &token {
                let seconds = began.elapsed().as_secs_f64();
                let progress = ProgressNotificationParam::new(token.clone(), seconds)
                    .with_message(format!("gpulab {}: {seconds:.0} s", line[0]));
                // Who has gone away needs none.
                let _ = context.peer.notify_progress(progress).await;
            }
        };
        let text = String::from_utf8_lossy(&output.stdout);
        let code = output.status.code();
        let mut called = CallToolResult::structured(json!({
            "exit_code": code,
            "result": serde_json::from_str(&text).unwrap_or_else(|_| Value::from(text)),
            "report": String::from_utf8_lossy(&output.stderr),
        }));
        called.is_error = Some(matches!(code, None | Some(1 | 2 | 3 | 74)));
        Ok(called)
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("gpulab", env!("CARGO_PKG_VERSION")))
            .with_instructions(self.folders.confinement)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools = self.tools.iter().map(|described| described.tool.clone());
        Ok(ListToolsResult::with_all_items(tools.collect()))
    }

    async fn call_tool(
        &self,
        asked: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let called = self.run(asked, context).await;
        let called =
            called.unwrap_or_else(|why| CallToolResult::error(vec![ContentBlock::text(why)]));
        Ok(called.into())
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args_os().nth(1).unwrap_or_else(|| ".".into());
    let server = Server {
        folders: Folders::confine(folder)?,
        tools: serde_json::from_str(TOOLS)?,
        turn: Mutex::new(()),
    };
    let Ok(serving) = server.serve(rmcp::transport::stdio()).await else {
        let why = "gpulab mcp: the first message was no request `initialize` of the Model Context Protocol";
        let _ = writeln!(io::stderr(), "{why}");
        exit(1);
    };
    serving.waiting().await?;
    Ok(())
}
