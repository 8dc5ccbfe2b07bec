//! gpulab's commands as tools of the Model Context Protocol, over standard input and output.

mod confined;

use confined::Folders;
use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::{CallToolResult, Implementation, ProgressNotificationParam, ServerCapabilities};
use rmcp::schemars::{self, JsonSchema};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler, ServiceExt, tool, tool_handler, tool_router};
use serde::Deserialize;
use serde_json::{Value, json};
use std::error::Error;
use std::pin::pin;
use std::process::Stdio;
use std::time::{Duration, Instant};
use tokio::process::Command;
use tokio::sync::Mutex;

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

struct Server {
    folders: Folders,
    /// Two at once would disturb each other's times.
    turn: Mutex<()>,
}

#[derive(Deserialize, JsonSchema)]
struct Check {
    /// Files or patterns below the folder, as in kernels/**/*.cl
    patterns: Vec<String>,
}

#[derive(Deserialize, JsonSchema)]
struct Try {
    /// The kernel's file, as in blur.cl
    file: String,
    /// One kernel of the file; times and counts need one
    kernel: Option<String>,
    /// What is right, as in "numpy: y = a * x"; without it results are compared with nothing
    check: Option<String>,
    /// Elements, or columns of a square matrix; large ones show what memory costs
    n: Option<u64>,
}

#[derive(Deserialize, JsonSchema)]
struct Judge {
    /// The file that is judged
    new: String,
    /// The file that is right, with the same arguments
    old: String,
    /// Seconds for timing, 10 by default
    budget: Option<f64>,
}

#[derive(Deserialize, JsonSchema)]
struct Count {
    /// A rung, as in reduce:3, or a kernel's file
    what: String,
    /// Of a file: whose problem it solves: reduce, dot, transpose or minplus
    family: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
struct Explain {
    /// A family, as in reduce; a rung, as in reduce:3; or an experiment, as in stride
    topic: String,
}

#[derive(Deserialize, JsonSchema)]
struct Glossary {
    /// As in coalescing
    word: String,
}

type Called = Result<CallToolResult, String>;

#[tool_router]
impl Server {
    /// Builds kernels with every compiler at hand and runs them in a simulator: errors, warnings, races, bounds.
    #[tool]
    async fn check(&self, asked: Parameters<Check>, context: RequestContext<RoleServer>) -> Called {
        let mut arguments = vec!["check".to_owned(), "--json=-".to_owned()];
        for pattern in &asked.0.patterns {
            arguments.push(self.folders.inside(pattern)?);
        }
        self.run(arguments, context).await
    }

    /// Looks at one kernel: faults, time, and in the report what would pay most. Needs no reference.
    #[tool(name = "try")]
    async fn look(&self, asked: Parameters<Try>, context: RequestContext<RoleServer>) -> Called {
        let asked = asked.0;
        let mut file = self.folders.inside(&asked.file)?;
        if let Some(kernel) = asked.kernel {
            file += &format!(":{kernel}");
        }
        let mut arguments = vec!["try".to_owned(), file, "--json=-".to_owned()];
        arguments.extend(asked.check.map(|check| format!("--check={check}")));
        arguments.extend(asked.n.map(|n| format!("--n={n}")));
        self.run(arguments, context).await
    }

    /// Says whether a new kernel is right and FASTER, SLOWER or the SAME as an old one.
    #[tool]
    async fn judge(&self, asked: Parameters<Judge>, context: RequestContext<RoleServer>) -> Called {
        let new = self.folders.inside(&asked.0.new)?;
        let old = self.folders.inside(&asked.0.old)?;
        let mut arguments = vec!["try".to_owned(), new, format!("--against={old}")];
        arguments.push("--json=-".to_owned());
        arguments.extend(asked.0.budget.map(|budget| format!("--budget={budget}")));
        self.run(arguments, context).await
    }

    /// Counts lanes, memory segments and bank conflicts in a simulator: one row a launch.
    #[tool]
    async fn count(&self, asked: Parameters<Count>, context: RequestContext<RoleServer>) -> Called {
        let what = self.folders.inside(&asked.0.what)?;
        let mut arguments = vec!["count".to_owned(), what, "--json=-".to_owned()];
        arguments.extend(asked.0.family.map(|family| format!("--as={family}")));
        self.run(arguments, context).await
    }

    /// Explains a family of kernels, a rung of it or an experiment.
    #[tool]
    async fn explain(
        &self,
        asked: Parameters<Explain>,
        context: RequestContext<RoleServer>,
    ) -> Called {
        let topic = self.folders.inside(&asked.0.topic)?;
        self.run(vec!["explain".to_owned(), topic], context).await
    }

    /// Explains a word of the field.
    #[tool]
    async fn glossary(
        &self,
        asked: Parameters<Glossary>,
        context: RequestContext<RoleServer>,
    ) -> Called {
        let word = self.folders.inside(&asked.0.word)?;
        self.run(vec!["explain".to_owned(), word], context).await
    }
}

impl Server {
    /// Runs gpulab, with reports of progress, and returns its exit code, its JSON or text, and what it told beside them.
    async fn run(&self, arguments: Vec<String>, context: RequestContext<RoleServer>) -> Called {
        let began = Instant::now();
        let token = context.meta.get_progress_token();
        let mut command = Command::new(&self.folders.gpulab);
        for name in SCRATCH {
            command.env(name, &self.folders.scratch);
        }
        command.args(&arguments).arg("--quiet");
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
                    .with_message(format!("gpulab {}: {seconds:.0} s", arguments[0]));
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

#[tool_handler]
impl ServerHandler for Server {
    fn get_info(&self) -> rmcp::model::ServerConfig {
        rmcp::model::ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("gpulab", env!("CARGO_PKG_VERSION")))
            .with_instructions(self.folders.confinement)
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let server = Server {
        folders: Folders::confine(std::env::args_os().nth(1).unwrap_or_else(|| ".".into()))?,
        turn: Mutex::new(()),
    };
    server
        .serve(rmcp::transport::stdio())
        .await?
        .waiting()
        .await?;
    Ok(())
}
