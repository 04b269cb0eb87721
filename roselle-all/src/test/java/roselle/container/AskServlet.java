package roselle.container;

import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.io.Serial;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import roselle.api.GenerationRequest;
import roselle.engine.Engine;
import roselle.engine.EngineConfig;
import roselle.hub.BundledModel;

/** A web application: an engine that lives as long as it does, and answers on the threads of requests. */
public final class AskServlet extends HttpServlet {
    @Serial
    private static final long serialVersionUID = 1;

    private transient @Nullable Engine engine;

    @Override
    public void init() {
        if (!Objects.equals(Engine.class.getClassLoader(), AskServlet.class.getClassLoader())) {
            throw new IllegalStateException("the engine is the container's, not the application's");
        }
        try {
            engine = Engine.open(EngineConfig.of(BundledModel.DEMO.unpackInto(Path.of("target", "models"))));
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
        var asked = GenerationRequest.builder()
                .user(request.getParameter("question"))
                .temperature(0)
                .maxTokens(24)
                .build();
        if (engine != null) {
            response.getWriter().print(engine.submit(asked).text());
        }
    }

    @Override
    public void destroy() {
        if (engine != null) {
            engine.close();
        }
    }
}
