/** Hold answers to the formats that their requests ask for: compiled once, followed token by token. */
@NullMarked
package roselle.structured;

import org.jspecify.annotations.NullMarked;
