/** Commands about models: find, download, list, remove, inspect, verify, tokenize, render. */
@NullMarked
package roselle.cli.model;

import org.jspecify.annotations.NullMarked;
