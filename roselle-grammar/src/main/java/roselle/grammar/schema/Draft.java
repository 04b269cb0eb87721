package roselle.grammar.schema;

import java.util.Locale;

/** The versions of JSON Schema. */
enum Draft {
    DRAFT_4,
    DRAFT_6,
    DRAFT_7,
    DRAFT_2019,
    DRAFT_2020;

    /** By the URI in {@code $schema}; others' own dialects are read like the newest. */
    static Draft of(String uri, Draft otherwise) {
        if (!isOfJsonSchema(uri)) {
            return otherwise;
        }
        String name = uri.toLowerCase(Locale.ROOT);
        if (name.contains("draft-04") || name.contains("draft-03")) {
            return DRAFT_4;
        }
        if (name.contains("draft-06") || name.contains("draft-05")) {
            return DRAFT_6;
        }
        if (name.contains("draft-07")) {
            return DRAFT_7;
        }
        return name.contains("2019-09") ? DRAFT_2019 : name.contains("2020-12") ? DRAFT_2020 : otherwise;
    }

    /** Whether the metaschema of a URI is one of JSON Schema's own. */
    static boolean isOfJsonSchema(String uri) {
        return uri.toLowerCase(Locale.ROOT).contains("json-schema.org");
    }

    /** Whether what stands beside {@code $ref} counts. */
    boolean readsBesideRef() {
        return compareTo(DRAFT_2019) >= 0;
    }

    String idKeyword() {
        return this == DRAFT_4 ? "id" : "$id";
    }
}
