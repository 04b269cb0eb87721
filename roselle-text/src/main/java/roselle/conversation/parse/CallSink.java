package roselle.conversation.parse;

/** Hears of calls while they are written. */
public interface CallSink {
    /** A call's arguments begin; the id is empty where the model has written none. */
    void started(String name, String id);

    /** The arguments of the call go on. */
    void argument(char letter);

    /** The arguments of the call go on. */
    default void arguments(CharSequence text) {
        for (int position = 0; position < text.length(); position++) {
            argument(text.charAt(position));
        }
    }

    /** The arguments of the call are complete. */
    void ended();

    /** What was read until now is part of calls, and never text. */
    void settled();
}
