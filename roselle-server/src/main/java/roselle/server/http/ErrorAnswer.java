package roselle.server.http;

/**
 * What a client is told of a failure, in the words of a dialect.
 *
 * @param type the dialect's word for whose fault it is
 * @param code its word for what is wrong, or empty
 * @param body the whole document
 */
public record ErrorAnswer(int status, String type, String code, JsonWriter body) {}
