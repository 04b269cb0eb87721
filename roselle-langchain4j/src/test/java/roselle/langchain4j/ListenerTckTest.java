package roselle.langchain4j;

import dev.langchain4j.exception.InternalServerException;
import dev.langchain4j.model.chat.ChatModel;
import dev.langchain4j.model.chat.StreamingChatModel;
import dev.langchain4j.model.chat.common.AbstractChatModelListenerIT;
import dev.langchain4j.model.chat.common.AbstractStreamingChatModelListenerIT;
import dev.langchain4j.model.chat.listener.ChatModelListener;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import roselle.engine.Engine;

/** LangChain4j's own tests of what listeners hear, with the demo model; what fails is an engine that was closed. */
class ListenerTckTest {
    private static final String NAME = "demo";

    private static Engine engine;
    private static Engine closed;

    @BeforeAll
    static void open() {
        engine = TestModels.demo();
        closed = TestModels.demo();
        closed.close();
    }

    @AfterAll
    static void close() {
        engine.close();
    }

    private static RoselleChatModelBuilder builder(Engine engine, ChatModelListener listener) {
        return RoselleChatModel.builder()
                .engine(engine)
                .modelName(NAME)
                .temperature(0.7)
                .topP(1.0)
                .maxOutputTokens(7)
                .listeners(List.of(listener));
    }

    @Nested
    class OfWholeAnswers extends AbstractChatModelListenerIT {
        @Override
        protected ChatModel createModel(ChatModelListener listener) {
            return builder(engine, listener).build();
        }

        @Override
        protected ChatModel createFailingModel(ChatModelListener listener) {
            return builder(closed, listener).build();
        }

        @Override
        protected String modelName() {
            return NAME;
        }

        @Override
        protected Class<? extends Exception> expectedExceptionClass() {
            return InternalServerException.class;
        }
    }

    @Nested
    class OfStreams extends AbstractStreamingChatModelListenerIT {
        @Override
        protected StreamingChatModel createModel(ChatModelListener listener) {
            return builder(engine, listener).buildStreaming();
        }

        @Override
        protected StreamingChatModel createFailingModel(ChatModelListener listener) {
            return builder(closed, listener).buildStreaming();
        }

        @Override
        protected String modelName() {
            return NAME;
        }

        @Override
        protected Class<? extends Exception> expectedExceptionClass() {
            return InternalServerException.class;
        }
    }
}
