package roselle.server.http;

/** A body that begins with a JSON object, and the bytes behind it. */
@SuppressWarnings("ArrayRecordComponent") // handed on once and never compared
public record JsonAndBytes(JsonFields fields, byte[] rest) {}
