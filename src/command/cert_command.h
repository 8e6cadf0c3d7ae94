/* cert_command.h -- `stator cert`: makes a certificate for a server without an authority.
 *
 * At the top of src/ with main.c, like the other commands.
 */
#ifndef STATOR_COMMAND_CERT_COMMAND_H
#define STATOR_COMMAND_CERT_COMMAND_H

/* Takes the words behind `cert`. Returns the process's exit code: 0; 1 if a file cannot be written;
 * 2 for a command line that is wrong. */
int cert_command(int argc, char *const *argv);

#endif
