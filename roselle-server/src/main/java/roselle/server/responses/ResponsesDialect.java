package roselle.server.responses;

import java.util.Optional;
import roselle.server.answer.Answers;
import roselle.server.http.Conventions;
import roselle.server.http.Dialect;
import roselle.server.http.Routes;
import roselle.server.openai.common.OpenAiConventions;

/** The paths of OpenAI's Responses. */
public final class ResponsesDialect implements Dialect {
    private final ResponsesHandler responses;

    public ResponsesDialect(Answers answers) {
        responses = new ResponsesHandler(answers);
    }

    @Override
    public void register(Routes routes) {
        routes.post("/v1/responses", responses)
                .getBelow("/v1/responses/", responses::find)
                .getBelow("/v1/responses/", "/input_items", responses::items)
                .postBelow("/v1/responses/", "/cancel", responses::cancel)
                .deleteBelow("/v1/responses/", responses::remove);
    }

    @Override
    public String name() {
        return "openai";
    }

    @Override
    public Optional<Conventions> conventions() {
        return Optional.of(OpenAiConventions.RESPONSES);
    }
}
