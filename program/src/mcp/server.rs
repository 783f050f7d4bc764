//! [`Server`]: implements the requests of the protocol with a memory.

use std::sync::{Arc, OnceLock};

use rmcp::model::{
    CallToolRequestMethod, CallToolRequestParams, CallToolResponse, ConstString, CustomRequest,
    CustomResult, ErrorCode, Implementation, InitializeResultMethod, ListResourcesRequestMethod,
    ListResourcesResult, ListToolsRequestMethod, ListToolsResult, PaginatedRequestParams,
    ReadResourceRequestMethod, ReadResourceRequestParams, ReadResourceResponse,
    ResourceUpdatedNotificationParam, ServerCapabilities, ServerConfig, SubscribeRequestMethod,
    SubscribeRequestParams, SubscriptionFilter, SubscriptionsListenRequestMethod, Tool,
    UnsubscribeRequestMethod, UnsubscribeRequestParams,
};
use rmcp::service::{NotificationContext, Peer, RequestContext, RoleServer, SubscriptionContext};
use rmcp::{ErrorData, ServerHandler};
use tokio::sync::Semaphore;
use tokio::task::AbortHandle;

use super::client_sessions::ClientSessions;
use super::served::Served;
use super::watch::{Beginning, ResourceWatch, Subscribed};
use super::{MAX_CHANGES, resources, tools};
use memdir::command::Decoded;
use memdir::{Cancellation, Error, Memory};

/// The supported methods that take parameters.
const METHODS: [&str; 8] = [
    InitializeResultMethod::VALUE,
    ListToolsRequestMethod::VALUE,
    CallToolRequestMethod::VALUE,
    ListResourcesRequestMethod::VALUE,
    ReadResourceRequestMethod::VALUE,
    SubscribeRequestMethod::VALUE,
    UnsubscribeRequestMethod::VALUE,
    SubscriptionsListenRequestMethod::VALUE,
];

/// The server for one client.
pub(super) struct Server {
    memory: Memory,
    sessions: Arc<ClientSessions>,
    prefix: Arc<str>,
    tools: Arc<[Tool]>,
    instructions: Arc<str>,
    watch: Arc<ResourceWatch>,
    /// Limits the number of concurrent changes.
    changes: Arc<Semaphore>,
    client: OnceLock<Client>,
    /// The session of this client, if it introduced itself.
    session: OnceLock<Memory>,
}

impl Clone for Server {
    /// For another client, which has no subscriptions yet.
    fn clone(&self) -> Self {
        Self {
            memory: self.memory.clone(),
            sessions: Arc::clone(&self.sessions),
            prefix: Arc::clone(&self.prefix),
            tools: Arc::clone(&self.tools),
            instructions: Arc::clone(&self.instructions),
            watch: Arc::clone(&self.watch),
            changes: Arc::clone(&self.changes),
            client: OnceLock::new(),
            session: OnceLock::new(),
        }
    }
}

/// A client that is notified of changes while it is connected.
struct Client {
    subscribed: Arc<Subscribed>,
    beginning: Beginning,
    telling: AbortHandle,
}

impl Drop for Client {
    fn drop(&mut self) {
        self.telling.abort();
    }
}

impl Server {
    /// # Errors
    /// [`Error::Config`] for a prefix that is not allowed in the name of a tool.
    pub(super) fn new(served: Served, prefix: &str) -> Result<Self, Error> {
        let tools = tools::tools(&served, prefix)?.into();
        let instructions = served.instructions(prefix).into();
        let memory = served.memory;
        let watch = Arc::new(ResourceWatch::new(memory.clone()));
        let changes = Arc::new(Semaphore::new(MAX_CHANGES));
        let prefix = prefix.into();
        Ok(Self {
            sessions: Arc::new(ClientSessions::new(memory.clone())),
            memory,
            prefix,
            tools,
            instructions,
            watch,
            changes,
            client: OnceLock::new(),
            session: OnceLock::new(),
        })
    }

    /// The watch that follows the memory for all clients.
    pub(super) fn watch(&self) -> Arc<ResourceWatch> {
        Arc::clone(&self.watch)
    }

    /// The subscriptions of this client. Starts notifying the client.
    fn client(&self, peer: &Peer<RoleServer>) -> &Client {
        self.client.get_or_init(|| {
            let subscribed = Arc::new(Subscribed::new(&self.memory));
            let listener = self.watch.listen();
            let beginning = listener.beginning();
            let (wanted, peer) = (Arc::clone(&subscribed), peer.clone());
            let telling = tokio::spawn(async move {
                let list_changed = || async { peer.notify_resource_list_changed().await.is_ok() };
                let updated = |uri: String| {
                    let told = ResourceUpdatedNotificationParam::new(uri);
                    async { peer.notify_resource_updated(told).await.is_ok() }
                };
                listener.tell(wanted, list_changed, updated).await;
            });
            Client { subscribed, beginning, telling: telling.abort_handle() }
        })
    }

    /// Runs `work`, which may wait for a store, on a blocking thread.
    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(Memory) -> T + Send + 'static,
    ) -> Result<T, ErrorData> {
        let memory = self.memory.clone();
        let done = tokio::task::spawn_blocking(move || work(memory)).await;
        done.map_err(|_| ErrorData::internal_error("The memory could not be asked", None))
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_resources()
            .enable_resources_subscribe()
            .enable_resources_list_changed()
            .build();
        ServerConfig::new(capabilities)
            .with_server_info(
                Implementation::new("memdir", env!("CARGO_PKG_VERSION")).with_title("memdir"),
            )
            .with_instructions(&*self.instructions)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.tools.to_vec()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.tools.iter().find(|tool| tool.name == name).cloned()
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let known = tools::command_of(&request.name, &self.prefix).or_else(|| {
            request.name.strip_prefix(&*self.prefix).filter(|name| *name == tools::SEARCH)
        });
        let Some(command) = known.filter(|_| self.get_tool(&request.name).is_some()) else {
            return Err(ErrorData::invalid_params("There is no such tool", None));
        };
        let command = command.to_owned();
        let name = context.client_info().map(|client| client.name);
        let own = context.peer.peer_info().map(|_| &self.session);
        let session = self.sessions.of(name, own);
        let turn = match &*command {
            "view" | tools::SEARCH => None,
            // The semaphore is never closed.
            _ => Arc::clone(&self.changes).acquire_owned().await.ok(),
        };
        let cancellation = Cancellation::new();
        let cancelled = cancellation.clone();
        let ended = context.ct.clone();
        // A client that cancels a call expects that the call changes nothing.
        let watch = tokio::spawn(async move {
            ended.cancelled().await;
            cancelled.cancel();
        });
        let reply = self
            .blocking(move |_| {
                let _turn = turn;
                let fields = request.arguments.unwrap_or_default();
                let session = session.cancelled_by(&cancellation);
                if command == tools::SEARCH {
                    return tools::search(&session, &fields);
                }
                let decoded = Decoded::named(&command, &fields);
                tools::result(session.execute_decoded(decoded))
            })
            .await;
        watch.abort();
        Ok(reply?.into())
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let cursor = request.and_then(|request| request.cursor);
        // The client is notified of every change after this list.
        if let Some(client) = self.client.get() {
            client.beginning.wait().await;
        }
        self.blocking(move |memory| resources::list(&memory, cursor.as_deref())).await?
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let read = self.blocking(move |memory| resources::read(&memory, &request.uri)).await?;
        read.map(ReadResourceResponse::from)
    }

    /// A request outside the protocol. If its method is supported, the error is about its parameters.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let method = request.method;
        Err(if METHODS.contains(&&*method) {
            let why = format!("The parameters are not those that the protocol has for {method}");
            ErrorData::invalid_params(why, None)
        } else {
            ErrorData::new(ErrorCode::METHOD_NOT_FOUND, "There is no such method", None)
        })
    }

    /// Clients of the protocol up to 2025-11-25 are notified of changes from here on.
    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        self.client(&context.peer);
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let client = self.client(&context.peer);
        if client.subscribed.add(&request.uri) {
            client.beginning.wait().await;
            return Ok(());
        }
        Err(ErrorData::invalid_params("This resource cannot be subscribed to", None))
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.client(&context.peer).subscribed.remove(&request.uri);
        Ok(())
    }

    /// Clients of the protocol from 2026-07-28 on choose their notifications.
    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        Some(requested.supported_by(&self.get_info().capabilities))
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let subscribed = Arc::new(Subscribed::new(&self.memory));
        let wanted = context.accepted();
        for uri in wanted.resource_subscriptions.iter().flatten() {
            subscribed.add(uri);
        }
        let list = wanted.resources_list_changed == Some(true);
        let sink = context.sink();
        let listener = self.watch.listen();
        listener.beginning().wait().await;
        // The acknowledgement was sent before the listener started, so changes in between may have been missed.
        let telling = listener.telling_first().tell(
            subscribed,
            || async { !list || sink.notify_resource_list_changed().await.is_ok() },
            |uri| async { sink.notify_resource_updated(uri).await.is_ok() },
        );
        tokio::select! {
            () = telling => {}
            () = context.cancelled() => {}
        }
        Ok(())
    }
}
