package roselle.conversation.format;

import java.util.concurrent.ThreadLocalRandom;

/** What the id of a call looks like, which a model reads again in the next turn. */
public enum CallIds {
    /** {@code call_} and 24 hexadecimal digits. */
    CALL,
    /** Nine letters and digits: templates of Mistral's models refuse others. */
    NINE,
    /** {@code functions.name:index}, with the index counted from 0: Kimi's. */
    FUNCTION_INDEX,
    /** The index alone, counted from 0: Cohere's. */
    INDEX;

    private static final String ALPHABET = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

    /** The id of a call for which the model has written none. */
    public String next(String name, int index) {
        return switch (this) {
            case CALL -> "call_" + random(24, 16);
            case NINE -> random(9, ALPHABET.length());
            case FUNCTION_INDEX -> "functions." + name + ":" + index;
            case INDEX -> Integer.toString(index);
        };
    }

    private static String random(int length, int letters) {
        var id = new StringBuilder(length);
        for (int position = 0; position < length; position++) {
            id.append(ALPHABET.charAt(ThreadLocalRandom.current().nextInt(letters)));
        }
        return id.toString();
    }
}
