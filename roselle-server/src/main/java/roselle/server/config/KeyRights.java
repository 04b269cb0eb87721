package roselle.server.config;

import roselle.api.InvalidRequestException;

/**
 * What one API key is to the others.
 *
 * @param group keys of one group are one to the engine: one share of it, one order of priorities, one set of cached prefixes;
 *     empty for a group of its own
 * @param isOperator whether it sees what concerns all keys: metrics, the dashboard's totals and everyone's requests
 */
public record KeyRights(String group, boolean isOperator) {
    public static final KeyRights DEFAULT = new KeyRights("", false);

    public KeyRights {
        if (!group.isEmpty() && !ApiKey.isName(group)) {
            throw new InvalidRequestException(
                    "a key's group must have 1 to 64 letters, digits, dots, hyphens or underscores");
        }
    }
}
