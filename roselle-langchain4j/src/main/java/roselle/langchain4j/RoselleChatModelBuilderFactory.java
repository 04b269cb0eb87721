package roselle.langchain4j;

import java.util.function.Supplier;

/** Makes the builders of chat models in place of ours; found as a service. Frameworks provide one that sets their defaults. */
public interface RoselleChatModelBuilderFactory extends Supplier<RoselleChatModelBuilder> {}
