package roselle.server.config;

import java.util.List;
import java.util.Map;

/** Tools that the page offers to models, and has called where its user agrees; calls may come from several threads at a time. */
public interface PageTools {
    /** No tools: the page offers none, and nothing is there to call one. */
    PageTools NONE = new PageTools() {
        @Override
        public List<Map<String, Object>> forms() {
            return List.of();
        }

        @Override
        public String call(String name, String arguments) {
            throw new IllegalStateException("there are no tools");
        }
    };

    /** All of them, in the JSON form of OpenAI's {@code tools}. */
    List<Map<String, Object>> forms();

    /**
     * Calls one and waits for what it says; a call that the tool refuses says why.
     *
     * @param arguments a JSON object
     * @throws RuntimeException if the tool cannot be reached, with a message for the user
     */
    String call(String name, String arguments);
}
