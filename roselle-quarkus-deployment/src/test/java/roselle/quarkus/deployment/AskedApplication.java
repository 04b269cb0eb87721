package roselle.quarkus.deployment;

import dev.langchain4j.model.chat.ChatModel;
import jakarta.inject.Inject;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import roselle.engine.Engine;

/** The application of {@link DevelopmentTest}: an answer, and which class and engine gave it. */
@Path("/ask")
public class AskedApplication {
    @Inject
    ChatModel model;

    @Inject
    Engine engine;

    @GET
    public String ask() {
        return model.chat("What is 12 + 30?") + "\n" + System.identityHashCode(AskedApplication.class) + "\n"
                + System.identityHashCode(engine);
    }
}
