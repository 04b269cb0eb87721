package roselle.langchain4j;

import dev.langchain4j.model.chat.StreamingChatModel;
import dev.langchain4j.service.common.AbstractStreamingAiServiceIT;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;

/** LangChain4j's own tests of AI services that stream, with the fixture that was trained on their conversations. */
@Tag("long")
class StreamingAiServiceTckTest extends AbstractStreamingAiServiceIT {
    private final TckModels tck = new TckModels();

    @AfterAll
    void close() {
        tck.close();
    }

    @Override
    protected List<StreamingChatModel> models() {
        return List.of(tck.conformance().buildStreaming());
    }
}
