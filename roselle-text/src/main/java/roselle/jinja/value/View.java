package roselle.jinja.value;

import java.util.List;

/**
 * What {@code keys()}, {@code values()} and {@code items()} return: looked at, not indexed.
 *
 * @param name dict_keys, dict_values or dict_items
 */
public record View(String name, List<Object> members) {}
