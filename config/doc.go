// Package config reads the one configuration file.
//
//	bytes --(YAML parser)--> tree --(decode)--> Config --(Check)--> usable, or every fault at once
//
// Decoding is strict: an unknown key is an error with its file:line:col and the nearest known key. All faults are
// reported together, so that one run mends them all. ${ENV} inside a value is replaced from the environment; a secret key
// x has a twin x_file whose file's content is the value. Ids written as numbers keep their digits exactly; numbers in
// scientific notation are refused where an id is meant.
//
// Without a file the defaults and the environment decide; Default and the environment overlay are the only sources of
// values that are not written down. Secrets are of type Secret and print as a placeholder. Only cmd imports this package.
package config
