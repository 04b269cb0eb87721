package roselle.server.http;

import io.helidon.webserver.Router;
import io.helidon.webserver.Routing;
import io.helidon.webserver.WebServer;
import io.helidon.webserver.http.HttpRouting;
import java.util.List;

/** A router whose requests over HTTP know whether their peer is present. */
record LiveRouter(Router inner) implements Router {
    @Override
    public <T extends Routing> T routing(Class<T> type, T otherwise) {
        T found = inner.routing(type, otherwise);
        return found instanceof HttpRouting http && type == HttpRouting.class
                ? type.cast(new LiveRouting(http))
                : found;
    }

    @Override
    public void beforeStart() {
        inner.beforeStart();
    }

    @Override
    public void afterStart(WebServer server) {
        inner.afterStart(server);
    }

    @Override
    public void afterStop() {
        inner.afterStop();
    }

    @Override
    public List<? extends Routing> routings() {
        return inner.routings();
    }
}
