package roselle.server.kserve;

/** Types of elements, by their names in requests, and in Triton's configurations of models. */
enum Datatype {
    BYTES("TYPE_STRING", 13),
    BOOL("TYPE_BOOL", 1),
    FP32("TYPE_FP32", 11),
    UINT32("TYPE_UINT32", 4);

    private final String configured;
    private final int number;

    Datatype(String configured, int number) {
        this.configured = configured;
        this.number = number;
    }

    /** That of Triton's {@code DataType}. */
    int number() {
        return number;
    }

    String configured() {
        return configured;
    }
}
