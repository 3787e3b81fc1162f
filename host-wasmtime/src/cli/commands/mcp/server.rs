//! The protocol: who is asked what, one call at a time.

use std::sync::Arc;

use anyhow::{Context, Result};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation, ListResourceTemplatesResult,
    ListResourcesResult, ListToolsResult, PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse,
    ReadResourceResult, ResourceContents, ServerCapabilities, ServerConfig, Tool as Listed, ToolAnnotations,
};
use rmcp::service::RequestContext;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::stdio;
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt};
use tokio::sync::Mutex;
use tokio::task::spawn_blocking;

use super::answer::{self, Answer};
use super::call::Setup;
use super::resources;
use super::tools::{TOOLS, Tool};

/// The server.
#[derive(Clone)]
pub(super) struct Server {
    setup: Arc<Setup>,
    /// Held by the call that is being answered, so that several do not need the memory of several.
    turn: Arc<Mutex<()>>,
}

impl Server {
    pub(super) fn new(setup: Setup) -> Self {
        Self { setup: Arc::new(setup), turn: Arc::default() }
    }

    /// Answers until the client closes standard input.
    pub(super) async fn serve(self) -> Result<()> {
        let max_line = self.setup.max_line();
        let (input, output) = stdio();
        let transport = AsyncRwTransport::new_server(input, output).with_max_line_length(max_line);
        let running = ServiceExt::serve(self, transport)
            .await
            .context("the client did not open a session of the Model Context Protocol")?;
        running.waiting().await.context("the server stopped")?;
        Ok(())
    }

    /// The answer of a tool. A defect of ours costs the call only.
    async fn answer(
        &self,
        tool: &'static Tool,
        request: CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Answer {
        let _turn = self.turn.lock().await;
        // The answer of a call that was cancelled while it waited has no reader; the calls behind it need not wait for it.
        if context.ct.is_cancelled() {
            return Answer { text: "error: the call was cancelled\n".to_owned(), is_error: true };
        }
        let setup = Arc::clone(&self.setup);
        let arguments = request.arguments.unwrap_or_default();
        spawn_blocking(move || setup.answer(tool, &arguments))
            .await
            .unwrap_or_else(|error| answer::trapped(&error.to_string()))
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_resources().build();
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("apportion", env!("CARGO_PKG_VERSION")))
            .with_instructions(self.setup.instructions())
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let hints = || ToolAnnotations::new().read_only(true).destructive(false).idempotent(true).open_world(false);
        let listed = TOOLS.iter().map(|tool| {
            Listed::new(tool.name, tool.what, tool.schema()).with_title(tool.title).with_annotations(hints())
        });
        Ok(ListToolsResult::with_all_items(listed.collect()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(tool) = Tool::named(&request.name) else {
            let known: Vec<&str> = TOOLS.iter().map(|tool| tool.name).collect();
            let message = format!("there is no tool `{}`; there are {}", request.name, known.join(", "));
            return Err(ErrorData::invalid_params(message, None));
        };
        let Answer { text, is_error } = self.answer(tool, request, &context).await;
        let content = vec![ContentBlock::text(text)];
        Ok(if is_error { CallToolResult::error(content) } else { CallToolResult::success(content) }.into())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(ListResourcesResult::with_all_items(resources::all()))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(resources::templates()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let Some(text) = resources::read(&request.uri) else {
            let message = format!("there is no resource `{}`; `resources/list` names all", request.uri);
            return Err(ErrorData::resource_not_found(message, None));
        };
        let contents = ResourceContents::text(text, request.uri).with_mime_type(resources::MIME);
        Ok(ReadResourceResult::new(vec![contents]).into())
    }
}
