package roselle.conversation.parse;

import java.util.List;

/** Reads one of several literals, whatever space comes before it; none of them begins with another. */
final class Literal {
    /** More of it must follow. */
    static final int MORE = -1;
    /** It is none of them. */
    static final int NONE = -2;

    private final List<String> choices;
    private String taken = "";

    /** Choices without the space around them; empty ones are left out by who asks. */
    Literal(List<String> choices) {
        this.choices = choices;
    }

    /** The number of the choice that is complete with this character, or {@link #MORE}, or {@link #NONE}. */
    int accept(char letter) {
        if (taken.isEmpty() && JsonText.isSpace(letter)) {
            return MORE;
        }
        String read = taken + letter;
        for (int choice = 0; choice < choices.size(); choice++) {
            if (choices.get(choice).equals(read)) {
                return choice;
            }
        }
        if (choices.stream().noneMatch(each -> each.startsWith(read))) {
            return NONE;
        }
        taken = read;
        return MORE;
    }

    /** What was taken for its beginning. */
    String taken() {
        return taken;
    }
}
