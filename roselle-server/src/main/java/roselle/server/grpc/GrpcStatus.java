package roselle.server.grpc;

import roselle.server.http.ErrorKind;

/** How a call ended, as gRPC has it. */
enum GrpcStatus {
    OK(0),
    INVALID_ARGUMENT(3),
    DEADLINE_EXCEEDED(4),
    NOT_FOUND(5),
    PERMISSION_DENIED(7),
    RESOURCE_EXHAUSTED(8),
    UNIMPLEMENTED(12),
    INTERNAL(13),
    UNAVAILABLE(14),
    UNAUTHENTICATED(16);

    private final int code;

    GrpcStatus(int code) {
        this.code = code;
    }

    static GrpcStatus of(ErrorKind kind) {
        return switch (kind) {
            case INVALID,
                    MISSING_FIELD,
                    UNKNOWN_FIELD,
                    WRONG_TYPE,
                    OUT_OF_RANGE,
                    CONTEXT_LENGTH,
                    CONTENT_TYPE,
                    HTTP_VERSION,
                    TRANSPORT -> INVALID_ARGUMENT;
            case UNKNOWN_KEY -> UNAUTHENTICATED;
            case HOST_NOT_ALLOWED, ORIGIN_NOT_ALLOWED, OPERATOR_ONLY -> PERMISSION_DENIED;
            case NOT_FOUND, METHOD_NOT_ALLOWED, NOT_SUPPORTED -> UNIMPLEMENTED;
            case MODEL_NOT_FOUND, ANSWER_NOT_FOUND -> NOT_FOUND;
            case DEADLINE -> DEADLINE_EXCEEDED;
            case BODY_TOO_LARGE, REQUEST_LIMIT, TOKEN_LIMIT -> RESOURCE_EXHAUSTED;
            case DEFECT -> INTERNAL;
            case OVERLOADED, ENDING, ENGINE_UNAVAILABLE, NOT_READY -> UNAVAILABLE;
        };
    }

    int code() {
        return code;
    }
}
