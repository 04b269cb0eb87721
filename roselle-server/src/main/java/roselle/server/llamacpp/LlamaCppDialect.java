package roselle.server.llamacpp;

import java.util.Optional;
import roselle.server.answer.Answers;
import roselle.server.http.ApiException;
import roselle.server.http.Conventions;
import roselle.server.http.Dialect;
import roselle.server.http.ErrorKind;
import roselle.server.http.Routes;

/** The paths of llama.cpp's server that other dialects do not have. */
public final class LlamaCppDialect implements Dialect {
    private static final String ADAPTERS = "an adapter is a model of its own here, see /v1/models";

    private final CompletionHandler completion;
    private final StateRoutes state;

    /** The paths of a server of this version. */
    public LlamaCppDialect(Answers answers, String version) {
        completion = new CompletionHandler(answers);
        state = new StateRoutes(answers, version);
    }

    @Override
    public void register(Routes routes) {
        routes.post("/completion", completion::complete)
                .post("/props", _ -> refuse("changing properties", "they were settled when the server started"))
                .post("/infill", completion::infill)
                .get("/lora-adapters", _ -> refuse("lora-adapters", ADAPTERS))
                .post("/lora-adapters", _ -> refuse("lora-adapters", ADAPTERS));
        state.register(routes);
    }

    private static void refuse(String what, String why) {
        throw new ApiException(ErrorKind.NOT_SUPPORTED, what + " is not supported: " + why);
    }

    @Override
    public String name() {
        return "llamacpp";
    }

    @Override
    public Optional<Conventions> conventions() {
        return Optional.of(LlamaCppConventions.INSTANCE);
    }
}
