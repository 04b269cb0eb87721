package roselle.server.batch;

import java.time.InstantSource;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import roselle.server.answer.Answers;
import roselle.server.config.ServerConfig;
import roselle.server.http.ApiException;
import roselle.server.http.Conventions;
import roselle.server.http.Dialect;
import roselle.server.http.ErrorKind;
import roselle.server.http.InnerRequests;
import roselle.server.http.Routes;
import roselle.server.openai.common.OpenAiConventions;

/** The paths of OpenAI's files and batches. */
public final class BatchDialect implements Dialect {
    private final Answers answers;
    private final ServerConfig config;
    private final Open open = new Open();
    private @Nullable Routes all;

    /** What there is while the server runs with a folder. */
    static final class Open {
        private volatile @Nullable BatchStore store;
        private volatile @Nullable BatchRunner runner;

        BatchStore store() {
            return present(store);
        }

        BatchRunner runner() {
            return present(runner);
        }

        private static <T> T present(@Nullable T part) {
            if (part == null) {
                throw new ApiException(
                        ErrorKind.NOT_SUPPORTED,
                        "files and batches are kept in a folder: start the server with --batch-folder");
            }
            return part;
        }
    }

    public BatchDialect(Answers answers, ServerConfig config) {
        this.answers = answers;
        this.config = config;
    }

    @Override
    public void register(Routes routes) {
        all = routes;
        new FileRoutes(answers, open).register(routes);
        new BatchRoutes(answers, open).register(routes);
    }

    @Override
    public void begin() {
        var folder = config.batches().path();
        Routes routes = all;
        if (folder.isEmpty() || routes == null) {
            return;
        }
        int longest = (int) config.limits().bodyBytes();
        InstantSource clock = InstantSource.system();
        var store = BatchStore.open(folder.get(), config.batches().space(), clock);
        var runner = new BatchRunner(
                store,
                new InnerRequests(routes, longest),
                longest,
                config.batches().requests(),
                clock);
        open.store = store;
        open.runner = runner;
        store.unfinished().forEach(runner::start);
    }

    @Override
    public void end() {
        BatchRunner runner = open.runner;
        BatchStore store = open.store;
        if (runner != null && store != null) {
            runner.end();
            store.close();
        }
    }

    @Override
    public String name() {
        return "openai";
    }

    @Override
    public Optional<Conventions> conventions() {
        return Optional.of(OpenAiConventions.COMPLETIONS);
    }
}
