package roselle.langchain4j;

import dev.langchain4j.model.chat.ChatModel;
import dev.langchain4j.service.common.AbstractAiServiceWithJsonSchemaIT;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;

/** LangChain4j's own tests of AI services whose answers are Java types, with the fixture that was trained on their conversations. */
@Tag("long")
class AiServiceSchemaTckTest extends AbstractAiServiceWithJsonSchemaIT {
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
}
