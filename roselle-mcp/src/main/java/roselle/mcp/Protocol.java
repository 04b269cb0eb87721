package roselle.mcp;

import io.modelcontextprotocol.json.McpJsonMapper;
import io.modelcontextprotocol.json.jackson3.JacksonMcpJsonMapper;
import io.modelcontextprotocol.json.schema.JsonSchemaValidator;
import io.modelcontextprotocol.json.schema.JsonSchemaValidator.ValidationResponse;
import io.modelcontextprotocol.spec.McpSchema.Implementation;
import java.util.Optional;
import tools.jackson.databind.json.JsonMapper;

/** What both sides of the protocol are made with. */
final class Protocol {
    private Protocol() {}

    static McpJsonMapper json() {
        return new JacksonMcpJsonMapper(JsonMapper.shared());
    }

    static Implementation us() {
        String version = Optional.ofNullable(Protocol.class.getModule().getDescriptor())
                .flatMap(descriptor -> descriptor.rawVersion())
                .orElse("0");
        return Implementation.builder("roselle", version).build();
    }

    /** Arguments are read, and refused, by who takes them; the SDK's own validator would be one more library. */
    static JsonSchemaValidator noValidator() {
        return (schema, value) -> ValidationResponse.asValid(String.valueOf(value));
    }
}
