package roselle.spring;

import org.springframework.ai.test.options.AbstractChatOptionsTests;

/** Spring AI's own test of options. */
class RoselleChatOptionsTest extends AbstractChatOptionsTests<RoselleChatOptions, RoselleChatOptions.Builder> {
    @Override
    protected Class<RoselleChatOptions> getConcreteOptionsClass() {
        return RoselleChatOptions.class;
    }

    @Override
    protected RoselleChatOptions.Builder readyToBuildBuilder() {
        return RoselleChatOptions.builder();
    }
}
