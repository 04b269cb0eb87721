package roselle.langchain4j;

import org.jspecify.annotations.Nullable;
import roselle.engine.Engine;

/** The models that LangChain4j's tests ask, greedy, opened when first asked. */
final class TckModels implements AutoCloseable {
    /** An adapter of SmolLM2 that changes nothing; another name of a model. */
    static final String ADAPTER = "same";

    private @Nullable Engine smollm2;
    private @Nullable Engine demo;

    private Engine smollm2Engine() {
        if (smollm2 == null) {
            smollm2 = TestModels.smollm2();
            TestModels.loadAdapter(smollm2, ADAPTER);
        }
        return smollm2;
    }

    private Engine demoEngine() {
        if (demo == null) {
            demo = TestModels.demo();
        }
        return demo;
    }

    /** A builder of SmolLM2's. */
    RoselleChatModelBuilder smollm2() {
        return builder(smollm2Engine());
    }

    /** A builder of the demo model's. */
    RoselleChatModelBuilder demo() {
        return builder(demoEngine());
    }

    private static RoselleChatModelBuilder builder(Engine engine) {
        return RoselleChatModel.builder().engine(engine).temperature(0.0);
    }

    @Override
    public void close() {
        if (smollm2 != null) {
            smollm2.close();
        }
        if (demo != null) {
            demo.close();
        }
    }
}
