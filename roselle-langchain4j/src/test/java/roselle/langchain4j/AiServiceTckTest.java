package roselle.langchain4j;

import dev.langchain4j.model.chat.ChatModel;
import dev.langchain4j.service.common.AbstractAiServiceIT;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;

/** LangChain4j's own tests of AI services, with the models of {@link ChatModelTckTest}. */
@Tag("long")
class AiServiceTckTest extends AbstractAiServiceIT {
    private final TckModels tck = new TckModels();

    @AfterAll
    void close() {
        tck.close();
    }

    @Override
    protected List<ChatModel> models() {
        return List.of(tck.smollm2().build(), tck.conformance().build());
    }

    @Override
    protected List<ChatModel> modelsSupportingToolsAndJsonResponseFormatWithSchema() {
        return List.of(tck.conformance().build());
    }
}
