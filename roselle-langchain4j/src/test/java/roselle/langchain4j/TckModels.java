package roselle.langchain4j;

import org.jspecify.annotations.Nullable;
import roselle.engine.Engine;

/** The models that LangChain4j's tests ask, greedy, opened when first asked. */
final class TckModels implements AutoCloseable {
    /** An adapter of SmolLM2 that changes nothing; another name of a model. */
    static final String ADAPTER = "same";

    private @Nullable Engine smollm2;
    private @Nullable Engine conformance;

    private Engine smollm2Engine() {
        if (smollm2 == null) {
            smollm2 = TestModels.smollm2();
            TestModels.loadAdapter(smollm2, ADAPTER);
        }
        return smollm2;
    }

    private Engine conformanceEngine() {
        if (conformance == null) {
            conformance = TestModels.conformance();
        }
        return conformance;
    }

    /** A builder of SmolLM2's: a model of somebody else that says what some tests want to hear, and whose template knows no tools. */
    RoselleChatModelBuilder smollm2() {
        return builder(smollm2Engine());
    }

    /** A builder of the fixture's, which was trained on the tests' conversations: see tools/conformance-model. */
    RoselleChatModelBuilder conformance() {
        return builder(conformanceEngine());
    }

    private static RoselleChatModelBuilder builder(Engine engine) {
        return RoselleChatModel.builder().engine(engine).temperature(0.0);
    }

    @Override
    public void close() {
        if (smollm2 != null) {
            smollm2.close();
        }
        if (conformance != null) {
            conformance.close();
        }
    }
}
