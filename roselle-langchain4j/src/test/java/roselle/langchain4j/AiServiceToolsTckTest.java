package roselle.langchain4j;

import dev.langchain4j.data.image.Image;
import dev.langchain4j.model.chat.ChatModel;
import dev.langchain4j.service.common.AbstractAiServiceWithToolsIT;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;

/** LangChain4j's own tests of AI services that call tools, with the fixture that was trained on their conversations. */
@Tag("long")
class AiServiceToolsTckTest extends AbstractAiServiceWithToolsIT {
    private final TckModels tck = new TckModels();

    @AfterAll
    void close() {
        tck.close();
    }

    @Override
    protected List<ChatModel> models() {
        return List.of(tck.conformance().build());
    }

    @Override
    protected boolean supportsRecursion() {
        return true;
    }

    @Override
    protected boolean verifyModelInteractions() {
        return true;
    }

    /** Theirs is fetched from a server; this one is only to be refused. */
    @Override
    protected Image catImage() {
        return Image.builder().base64Data("iVBORw0KGgo=").mimeType("image/png").build();
    }
}
