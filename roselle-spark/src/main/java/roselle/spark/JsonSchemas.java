package roselle.spark;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.BooleanType;
import org.apache.spark.sql.types.ByteType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DateType;
import org.apache.spark.sql.types.DoubleType;
import org.apache.spark.sql.types.FloatType;
import org.apache.spark.sql.types.IntegerType;
import org.apache.spark.sql.types.LongType;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.ShortType;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.types.TimestampType;
import roselle.api.InvalidRequestException;
import tools.jackson.databind.json.JsonMapper;

/** Types of Spark as JSON schemas whose texts {@code from_json} reads back; a field that may be null may be {@code null},
 * elements of arrays and maps, of which DDL cannot say it, are not. */
final class JsonSchemas {
    private static final JsonMapper JSON = new JsonMapper();

    private JsonSchemas() {}

    /**
     * The schema of an object with these columns, all of them.
     *
     * @throws InvalidRequestException if JSON has no form for one
     */
    static String of(StructType type) {
        return JSON.writeValueAsString(schema(type, "schema"));
    }

    private static Map<String, Object> schema(DataType type, String place) {
        return switch (type) {
            case StringType _ -> Map.of("type", "string");
            case BooleanType _ -> Map.of("type", "boolean");
            case ByteType _ -> integer(Byte.MIN_VALUE, Byte.MAX_VALUE);
            case ShortType _ -> integer(Short.MIN_VALUE, Short.MAX_VALUE);
            case IntegerType _ -> integer(Integer.MIN_VALUE, Integer.MAX_VALUE);
            case LongType _ -> integer(Long.MIN_VALUE, Long.MAX_VALUE);
            case FloatType _, DoubleType _ -> Map.of("type", "number");
            case DateType _ -> Map.of("type", "string", "format", "date");
            case TimestampType _ -> Map.of("type", "string", "format", "date-time");
            case ArrayType array -> Map.of("type", "array", "items", schema(array.elementType(), place + "[]"));
            case MapType map
            when map.keyType() instanceof StringType ->
                Map.of("type", "object", "additionalProperties", schema(map.valueType(), place + "{}"));
            case StructType struct -> object(struct, place);
            default ->
                throw new InvalidRequestException(
                        place + " is of type " + type.sql() + ", for which an answer in JSON has no form");
        };
    }

    private static Map<String, Object> integer(long least, long most) {
        return Map.of("type", "integer", "minimum", least, "maximum", most);
    }

    private static Map<String, Object> perhapsNull(DataType type, boolean mayBeNull, String place) {
        Map<String, Object> schema = schema(type, place);
        return mayBeNull ? Map.of("anyOf", List.of(schema, Map.of("type", "null"))) : schema;
    }

    private static Map<String, Object> object(StructType struct, String place) {
        Map<String, Object> properties = new LinkedHashMap<>();
        List<String> names = new ArrayList<>();
        for (StructField field : struct.fields()) {
            names.add(field.name());
            properties.put(field.name(), perhapsNull(field.dataType(), field.nullable(), place + "." + field.name()));
        }
        Map<String, Object> object = new LinkedHashMap<>();
        object.put("type", "object");
        object.put("properties", properties);
        object.put("required", names);
        object.put("additionalProperties", false);
        return object;
    }
}
