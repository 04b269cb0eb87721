package roselle.server.web;

import roselle.server.answer.Models;
import roselle.server.answer.Readiness;
import roselle.server.config.PageTools;
import roselle.server.http.Dialect;
import roselle.server.http.Routes;

/** The page, its files, and what the dashboard asks for. */
public final class WebDialect implements Dialect {
    private final PageFiles files = new PageFiles();
    private final DashboardState state;
    private final ModelDefaults defaults;
    private final ToolCalls calls;

    public WebDialect(Models models, Readiness readiness, RequestLog log, PageTools tools) {
        state = new DashboardState(models, readiness, log);
        defaults = new ModelDefaults(models);
        calls = new ToolCalls(tools);
    }

    @Override
    public void register(Routes routes) {
        routes.get("/", files::index)
                .getBelow("/web/", files::file)
                .get("/page/defaults", defaults::answer)
                .get("/dashboard/state", exchange -> exchange.sendJson(200, state.write()));
        calls.register(routes);
    }
}
