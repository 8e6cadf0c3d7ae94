/* command_table.c -- every command there is, in the order in which --help lists them. */
#include <stdio.h>
#include <string.h>
#include "base/spelling.h"
#include "command/admin_client.h"
#include "command/command.h"

static const struct command_verb serve_verbs[] = { { .flags = "[FLAGS]" } };

static const struct command_verb check_verbs[] = { { .words = "[DIR]", .flags = "[FLAGS]" } };

static const struct command_verb directory_verbs[] = { { .words = "DIR", .flags = "[FLAGS]" } };

static const struct command_verb key_verbs[] = {
    { "create", "USER", "[FLAGS]", "create an access key and print it, with its secret" },
    { "session", "ID SECONDS", "[FLAGS]", "create a temporary key with the rights of key ID" },
    { "list", NULL, "[FLAGS]", "print each key: id, user, state, time of creation, policies" },
    { "disable", "ID", "[FLAGS]", "refuse requests that are signed with the key" },
    { "enable", "ID", "[FLAGS]", "accept them again" },
    { "delete", "ID", "[FLAGS]", "delete the key, its policies and its temporary keys" },
};

static const struct command_verb policy_verbs[] = {
    { "put", "ID NAME FILE", "[FLAGS]", "store a policy for key ID; FILE may be - for stdin" },
    { "get", "ID NAME", "[FLAGS]", "print the policy" },
    { "list", "ID", "[FLAGS]", "print the names of the policies of key ID" },
    { "delete", "ID NAME", "[FLAGS]", "delete the policy" },
};

static const struct command_verb cert_verbs[] = {
    { "self-signed", NULL, "--out-dir DIR [--host NAME]... [--days N]",
      "create a key and a certificate signed with it" },
};

static const struct command_flag cert_flags[] = {
    { .name = "out-dir",
      .placeholder = "DIR",
      .help = "where to write cert.pem and key.pem; created if missing" },
    { .name = "host",
      .placeholder = "NAME",
      .help = "name or address; repeatable [localhost, 127.0.0.1, ::1]" },
    { .name = "days", .placeholder = "N", .help = "how long the certificate is valid [365]" },
};

static const struct command_verb trigger_verbs[] = {
    { "add", NULL, "--table TABLE --url URL [FLAGS]", "add a trigger and print its UUID" },
    { "list", NULL, "[--table TABLE] [FLAGS]",
      "print each trigger: UUID, table, URL, state, last result" },
    { "remove", "UUID", "[FLAGS]", "remove a trigger" },
};

static const struct command_flag trigger_flags[] = {
    { .name = "table",
      .placeholder = "TABLE",
      .help = "the table, which must have a stream",
      .verbs = "add,list" },
    { .name = "url", .placeholder = "URL", .help = "where to POST the records", .verbs = "add" },
    { .name = "starting-position",
      .placeholder = "POSITION",
      .help = "TRIM_HORIZON or LATEST [TRIM_HORIZON]",
      .verbs = "add" },
    { .name = "batch-size",
      .kind = COMMAND_FLAG_NUMBER,
      .placeholder = "N",
      .help = "records per call, at most [100]",
      .verbs = "add" },
    { .name = "batch-window",
      .kind = COMMAND_FLAG_NUMBER,
      .placeholder = "SECONDS",
      .help = "how long to wait for a full batch [0]",
      .verbs = "add" },
    { .name = "filter",
      .placeholder = "PATTERN",
      .help = "send only records that match this JSON pattern; repeatable",
      .verbs = "add" },
    { .name = "max-retries",
      .kind = COMMAND_FLAG_NUMBER,
      .placeholder = "N",
      .help = "how often to retry a batch [-1: until its records expire]",
      .verbs = "add" },
    { .name = "max-record-age",
      .kind = COMMAND_FLAG_NUMBER,
      .placeholder = "SECONDS",
      .help = "give up on records older than this [-1: never]",
      .verbs = "add" },
    { .name = "bisect",
      .kind = COMMAND_FLAG_PRESENCE,
      .help = "split a batch that fails into halves",
      .verbs = "add" },
    { .name = "report-failures",
      .kind = COMMAND_FLAG_PRESENCE,
      .help = "the function answers with batchItemFailures",
      .verbs = "add" },
    { .name = "timeout",
      .kind = COMMAND_FLAG_NUMBER,
      .placeholder = "SECONDS",
      .help = "how long a call may take [60]",
      .verbs = "add" },
    { .name = "dead-letters",
      .placeholder = "NAME",
      .help = "file in DATA-DIR/dead-letters for records given up",
      .verbs = "add" },
    { .name = "endpoint", .placeholder = "URL", .help = "the server [" ADMIN_CLIENT_ENDPOINT "]" },
    { .name = "ca-file",
      .placeholder = "FILE",
      .help = "PEM: authorities to trust [$AWS_CA_BUNDLE, or the system's]" },
};

static const struct command_verb export_verbs[] = {
    { NULL, "TABLE", "--out FILE|--bucket BUCKET [FLAGS]", NULL },
};

static const struct command_flag export_flags[] = {
    { .name = "out",
      .placeholder = "FILE",
      .help = "write a local file; -: standard output; *.gz, *.zst: compressed" },
    { .name = "bucket",
      .placeholder = "BUCKET",
      .help = "have the server export the table to this bucket" },
    { .name = "prefix", .placeholder = "PREFIX", .help = "what the keys in the bucket begin with" },
    { .name = "format",
      .placeholder = "FORMAT",
      .help = "dynamodb-json, ion; files also json, csv [dynamodb-json]" },
    { .name = "columns",
      .placeholder = "LIST",
      .help = "attributes in a CSV file, with commas [all that there are]" },
    { .name = "at", .placeholder = "TIME", .help = "to a bucket: as the table was then [now]" },
    { .name = "from",
      .placeholder = "TIME",
      .help = "to a bucket: only what changed since, up to --at" },
    { .name = "endpoint", .placeholder = "URL", .help = "the server [" ADMIN_CLIENT_ENDPOINT "]" },
    { .name = "ca-file",
      .placeholder = "FILE",
      .help = "PEM: authorities to trust [$AWS_CA_BUNDLE, or the system's]" },
};

static const struct command_verb apply_verbs[] = { { .words = "FILE...", .flags = "[FLAGS]" } };

static const struct command_flag apply_flags[] = {
    { .name = "stack",
      .placeholder = "NAME",
      .help = "the stack's name, a part of tables' names [the file's name]" },
    { .name = "parameter",
      .placeholder = "K=V",
      .help = "the value of a parameter of the template; repeatable" },
    { .name = "plan",
      .kind = COMMAND_FLAG_PRESENCE,
      .help = "only show the plan; exit code 3: changes are pending" },
    { .name = "yes", .kind = COMMAND_FLAG_PRESENCE, .help = "do not ask for confirmation" },
    { .name = "prune",
      .kind = COMMAND_FLAG_PRESENCE,
      .help = "delete tables that the stack made and that are gone from it" },
    { .name = "allow-replace",
      .kind = COMMAND_FLAG_PRESENCE,
      .help = "replace tables whose keys change; their items are lost" },
    { .name = "strict",
      .kind = COMMAND_FLAG_PRESENCE,
      .help = "refuse resources of other services, instead of skipping them" },
    { .name = "json", .kind = COMMAND_FLAG_PRESENCE, .help = "print the plan as JSON" },
    { .name = "endpoint", .placeholder = "URL", .help = "the server [" ADMIN_CLIENT_ENDPOINT "]" },
    { .name = "ca-file",
      .placeholder = "FILE",
      .help = "PEM: authorities to trust [$AWS_CA_BUNDLE, or the system's]" },
};

static const struct command_verb fault_verbs[] = {
    { "add", NULL, "--table TABLE --fault FAULT [FLAGS]", "add a fault and print its id" },
    { "list", NULL, "[--table TABLE] [FLAGS]",
      "print each fault: id, table, fault, share, state, count" },
    { "remove", "ID", "[FLAGS]", "remove a fault" },
};

static const struct command_flag fault_flags[] = {
    { .name = "table",
      .placeholder = "TABLE",
      .help = "the table whose requests fail",
      .verbs = "add,list" },
    { .name = "fault",
      .placeholder = "FAULT",
      .help = "what happens: Throttle, Delay, ... (see above)",
      .verbs = "add" },
    { .name = "operation",
      .placeholder = "NAME",
      .help = "only requests of this operation; repeatable [all on items]",
      .verbs = "add" },
    { .name = "percent",
      .placeholder = "N",
      .help = "the share of requests, or items of batches, that fail [100]",
      .verbs = "add" },
    { .name = "reason",
      .placeholder = "REASON",
      .help = "of a Throttle: see above [by the table's mode]",
      .verbs = "add" },
    { .name = "index",
      .placeholder = "INDEX",
      .help = "of a Throttle: the global index that refuses",
      .verbs = "add" },
    { .name = "delay-ms",
      .kind = COMMAND_FLAG_NUMBER,
      .placeholder = "MS",
      .help = "of a Delay: how long an answer waits",
      .verbs = "add" },
    { .name = "jitter-ms",
      .kind = COMMAND_FLAG_NUMBER,
      .placeholder = "MS",
      .help = "of a Delay: how much longer it may wait [0]",
      .verbs = "add" },
    { .name = "max-count",
      .kind = COMMAND_FLAG_NUMBER,
      .placeholder = "N",
      .help = "end after so many failures",
      .verbs = "add" },
    { .name = "seconds",
      .kind = COMMAND_FLAG_NUMBER,
      .placeholder = "N",
      .help = "end after so long [300]",
      .verbs = "add" },
    { .name = "seed",
      .kind = COMMAND_FLAG_NUMBER,
      .placeholder = "N",
      .help = "the same seed lets the same requests fail [random]",
      .verbs = "add" },
    { .name = "json",
      .kind = COMMAND_FLAG_PRESENCE,
      .help = "the server's answer as JSON",
      .verbs = "add,list" },
    { .name = "endpoint", .placeholder = "URL", .help = "the server [" ADMIN_CLIENT_ENDPOINT "]" },
    { .name = "ca-file",
      .placeholder = "FILE",
      .help = "PEM: authorities to trust [$AWS_CA_BUNDLE, or the system's]" },
};

static const struct command_verb history_verbs[] = {
    { .words = "TABLE KEY [SORT-KEY]", .flags = "[--max N] [--from TIME] [--to TIME] [FLAGS]" },
};

static const struct command_verb top_verbs[] = { { .flags = "[--once] [--json] [FLAGS]" } };

#define CLIENT_FLAGS                                                                               \
    { .name = "endpoint",                                                                          \
      .placeholder = "URL",                                                                        \
      .help = "the server [" ADMIN_CLIENT_ENDPOINT "]" },                                          \
    {                                                                                              \
        .name = "ca-file", .placeholder = "FILE",                                                  \
        .help = "PEM: authorities to trust [$AWS_CA_BUNDLE, or the system's]"                      \
    }

static const struct command_flag history_flags[] = {
    { .name = "max",
      .placeholder = "N",
      .help = "how many versions to print [20]",
      .kind = COMMAND_FLAG_NUMBER },
    { .name = "from", .placeholder = "TIME", .help = "changes from then on: 2026-11-16T10:43:35Z" },
    { .name = "to", .placeholder = "TIME", .help = "changes before then" },
    { .name = "json", .help = "a line of JSON for each version", .kind = COMMAND_FLAG_PRESENCE },
    CLIENT_FLAGS,
};

static const struct command_flag top_flags[] = {
    { .name = "once", .help = "print once and end", .kind = COMMAND_FLAG_PRESENCE },
    { .name = "json", .help = "a line of JSON for each interval", .kind = COMMAND_FLAG_PRESENCE },
    { .name = "keys",
      .help = "also the most used keys of tables with Contributor Insights",
      .kind = COMMAND_FLAG_PRESENCE },
    { .name = "interval",
      .placeholder = "SECONDS",
      .help = "from one look to the next [2]",
      .kind = COMMAND_FLAG_NUMBER },
    CLIENT_FLAGS,
};

static const struct command_verb simulate_verbs[] = { { .words = "TABLE", .flags = "[FLAGS]" } };

static const struct command_flag simulate_flags[] = {
    { .name = "days",
      .placeholder = "N",
      .help = "how far to look back, at most 63 [14]",
      .kind = COMMAND_FLAG_NUMBER },
    { .name = "target",
      .placeholder = "PERCENT",
      .help = "of auto scaling, 20 to 90 [70]",
      .kind = COMMAND_FLAG_NUMBER },
    { .name = "min",
      .placeholder = "UNITS",
      .help = "least capacity of auto scaling [1]",
      .kind = COMMAND_FLAG_NUMBER },
    { .name = "max",
      .placeholder = "UNITS",
      .help = "most capacity of auto scaling [40000]",
      .kind = COMMAND_FLAG_NUMBER },
    { .name = "json", .help = "one line of JSON", .kind = COMMAND_FLAG_PRESENCE },
    { .name = "cloudwatch-endpoint",
      .placeholder = "URL",
      .help = "where the metrics are, if not at the endpoint" },
    CLIENT_FLAGS,
};

static const struct command_verb jobs_verbs[] = { { .flags = "[--all] [--wait] [--json] "
                                                             "[--cancel ID] [FLAGS]" } };

static const struct command_flag jobs_flags[] = {
    { .name = "all",
      .help = "also those that have ended, the last 100 of each kind",
      .kind = COMMAND_FLAG_PRESENCE },
    { .name = "wait", .help = "until none runs any more", .kind = COMMAND_FLAG_PRESENCE },
    { .name = "cancel",
      .placeholder = "ID",
      .help = "end this export, import, bulk operation or restore" },
    { .name = "json", .help = "the server's answer as JSON", .kind = COMMAND_FLAG_PRESENCE },
    CLIENT_FLAGS,
};

static const struct command_verb recover_verbs[] = { { .words = "TABLE",
                                                       .flags = "[--to TIME] [--as NAME] "
                                                                "[FLAGS]" } };

static const struct command_flag recover_flags[] = {
    { .name = "to",
      .placeholder = "TIME",
      .help = "as the table was then: 2026-11-16T10:43:35Z [now]" },
    { .name = "as", .placeholder = "NAME", .help = "the new table [TABLE-recovered]" },
    { .name = "deleted",
      .help = "bring back a deleted table that had recovery [as TABLE]",
      .kind = COMMAND_FLAG_PRESENCE },
    { .name = "backup", .placeholder = "ARN", .help = "from this backup of the table" },
    { .name = "quiet", .help = "no progress bar", .kind = COMMAND_FLAG_PRESENCE },
    CLIENT_FLAGS,
};

static const struct command_verb backups_verbs[] = {
    { "import", "[DIR]", "[FLAGS]", "make the backups in DIR, or in a bucket, known to the store" },
};

static const struct command_verb slowlog_verbs[] = { { .flags = "[--max N] [--json] [FLAGS]" } };

static const struct command_flag slowlog_flags[] = {
    { .name = "max",
      .placeholder = "N",
      .help = "how many to print, at most 256 [20]",
      .kind = COMMAND_FLAG_NUMBER },
    { .name = "json", .help = "the server's answer as JSON", .kind = COMMAND_FLAG_PRESENCE },
    CLIENT_FLAGS,
};

static const struct command_verb regions_verbs[] = { { .flags = "[--json] [FLAGS]" } };

static const struct command_flag regions_flags[] = {
    { .name = "json", .help = "the server's answer as JSON", .kind = COMMAND_FLAG_PRESENCE },
    CLIENT_FLAGS,
};

static const struct command_verb healthcheck_verbs[] = { { .flags = "[FLAGS]" } };

static const struct command_flag healthcheck_flags[] = {
    { .name = "url", .placeholder = "URL", .help = "what to ask [/readyz at --bind and --port]" },
    { .name = "ca-file",
      .placeholder = "FILE",
      .help = "PEM: authorities to trust [--tls-cert-file, or the system's]" },
};

static const struct command_verb advise_verbs[] = { { .flags =
                                                          "[--since TIME] [--json] [FLAGS]" } };

static const struct command_flag advise_flags[] = {
    { .name = "since", .placeholder = "TIME", .help = "how far to look back: 30m, 24h, 14d [24h]" },
    { .name = "table", .placeholder = "TABLE", .help = "only this table [all]" },
    { .name = "json",
      .help = "the server's answers as JSON, a line for each ten tables",
      .kind = COMMAND_FLAG_PRESENCE },
    CLIENT_FLAGS,
};

static const struct command_verb import_verbs[] = { { .words = "TABLE [FILE]",
                                                      .flags = "[--bucket BUCKET] [FLAGS]" } };

static const struct command_flag import_flags[] = {
    { .name = "format",
      .placeholder = "FORMAT",
      .help = "DYNAMODB_JSON, ION, CSV or JSON [by FILE's name]" },
    { .name = "compression", .placeholder = "C", .help = "GZIP, ZSTD or NONE [by FILE's name]" },
    { .name = "key", .placeholder = "KEY", .help = "make the table, with this key: pk:S,sk:N" },
    { .name = "delimiter", .placeholder = "C", .help = "of CSV: a character, or tab [,]" },
    { .name = "header",
      .placeholder = "NAMES",
      .help = "of CSV, with commas [the first line of the file]" },
    { .name = "bucket", .placeholder = "BUCKET", .help = "let the server read from its bucket" },
    { .name = "prefix", .placeholder = "PREFIX", .help = "of the keys in the bucket [all]" },
    { .name = "quiet", .kind = COMMAND_FLAG_PRESENCE, .help = "no progress bar" },
    CLIENT_FLAGS,
};

static const struct command_verb model_verbs[] = {
    { "check", "FILE", "", "judge a model, then run its patterns on its sample" },
    { "apply", "FILE", "[--yes] [--no-data] [FLAGS]",
      "print what a server's tables lack; with --yes, do it" },
    { "diff", "FILE [FILE]", "[FLAGS]",
      "print the steps from one model, or a server's tables, to another" },
    { "infer", "TABLE", "[--items N] [--no-data] [FLAGS]", "print a model of a server's table" },
    { "export", "FILE", "[--format FORMAT]", "print the model's tables for another tool" },
    { "code", "FILE", "--language LANGUAGE [--out DIR]",
      "print functions for the model's patterns, or write them with tests" },
    { "samples", "[NAME]", "", "list the models that are in the program, or print one" },
};

static const struct command_flag model_flags[] = {
    { .name = "language",
      .placeholder = "LANGUAGE",
      .help = "python or typescript",
      .verbs = "code" },
    { .name = "out",
      .placeholder = "DIR",
      .help = "the folder to write to; made if it is missing [stdout]",
      .verbs = "code" },
    { .name = "format",
      .placeholder = "FORMAT",
      .help = "workbench, cloudformation, cdk, terraform or cli [workbench]",
      .verbs = "export" },
    { .name = "yes",
      .help = "carry the plan out",
      .kind = COMMAND_FLAG_PRESENCE,
      .verbs = "apply" },
    { .name = "no-data",
      .help = "without the rows of the sample",
      .kind = COMMAND_FLAG_PRESENCE,
      .verbs = "apply,infer" },
    { .name = "items",
      .placeholder = "N",
      .help = "how many items to look at, at most 10000 [1000]",
      .kind = COMMAND_FLAG_NUMBER,
      .verbs = "infer" },
    { .name = "endpoint",
      .placeholder = "URL",
      .help = "the server [" ADMIN_CLIENT_ENDPOINT "]",
      .verbs = "apply,diff,infer" },
    { .name = "ca-file",
      .placeholder = "FILE",
      .help = "PEM: authorities to trust [$AWS_CA_BUNDLE, or the system's]",
      .verbs = "apply,diff,infer" },
};

static const struct command_verb help_verbs[] = { { .words = "[COMMAND]", .flags = "" } };

static const struct command_flag help_flags[] = {
    { .name = "format",
      .placeholder = "FORMAT",
      .help = "man, man-conf, markdown, bash or zsh: for the build",
      .is_hidden = true },
};

static const struct command_verb version_verbs[] = { { .flags = "" } };

#define VERBS(table) .verbs = (table), .verb_count = COUNT_OF(table)
#define FLAGS(table) .flags = (table), .flag_count = COUNT_OF(table)
#define STORE_SETTINGS "data-dir block-cache-size write-buffer-size log-level config"

const struct command command_table[] = {
    { .name = "serve",
      .purpose = "run the server (the default)",
      .description =
          "Opens the store in --data-dir, listens on --bind and --port and serves DynamoDB's API\n"
          "until SIGTERM or SIGINT. SIGHUP makes it read its TLS files again.\n"
          "DynamoDB Local's flags are accepted as well: -port, -inMemory, -dbPath, -sharedDb,\n"
          "-cors, -delayTransientStatuses, -optimizeDbBeforeStartup, -disableTelemetry.\n",
      VERBS(serve_verbs),
      .settings = "*",
      .listens = true,
      .run = serve_command },
    { .name = "check",
      .purpose = "verify a store or a backup",
      .description =
          "Reads all of the store in DIR, or in --data-dir, and reports what is wrong with it.\n"
          "The store must not be in use by a server. Nothing in it is changed. The files of a\n"
          "backup are also compared with their digests. Exits with 1 if there are problems.\n",
      VERBS(check_verbs),
      .settings = "data-dir master-key-file block-cache-size write-buffer-size log-level config",
      .word_setting = "data-dir",
      .needs_disk = "check",
      .run = check_command },
    { .name = "backup",
      .purpose = "copy the store to a directory, even while a server uses it",
      .description =
          "Copies the store in --data-dir to DIR, which must be empty or missing. A server that "
          "has\n"
          "the store open keeps running and supplies a consistent copy. The master key is not\n"
          "part of a backup.\n",
      VERBS(directory_verbs),
      .settings = STORE_SETTINGS,
      .needs_disk = "back up",
      .run = backup_command },
    { .name = "restore",
      .purpose = "create a data directory from a backup",
      .description = "Creates --data-dir, which must be empty or missing, from the backup in DIR. "
                     "Every file is\n"
                     "compared with its digest.\n",
      VERBS(directory_verbs),
      .settings = STORE_SETTINGS,
      .needs_disk = "restore",
      .run = restore_command },
    { .name = "key",
      .group = COMMAND_FOR_ACCESS,
      .purpose = "manage access keys",
      .description = "Works on the file of keys in --data-dir. A running server follows it, so "
                     "neither needs the\n"
                     "other. Keys are encrypted with the master key.\n",
      VERBS(key_verbs),
      .settings = "data-dir master-key-file log-level config",
      .needs_master_key = true,
      .run = key_command },
    { .name = "policy",
      .group = COMMAND_FOR_ACCESS,
      .purpose = "manage the policies of access keys",
      .description = "Works on the file of keys in --data-dir, as `stator key` does. A policy is a "
                     "JSON document\n"
                     "in the language of IAM.\n",
      VERBS(policy_verbs),
      .settings = "data-dir master-key-file log-level config",
      .needs_master_key = true,
      .run = key_command },
    { .name = "cert",
      .group = COMMAND_FOR_ACCESS,
      .purpose = "create a certificate for TLS",
      .description = "Writes DIR/cert.pem and DIR/key.pem: a new key and a certificate signed with "
                     "it. Clients\n"
                     "must be told to trust it. Existing files are never overwritten.\n",
      VERBS(cert_verbs),
      FLAGS(cert_flags),
      .run = cert_command },
    { .name = "trigger",
      .group = COMMAND_FOR_TABLES,
      .purpose = "manage the triggers of a running server",
      .description =
          "A trigger POSTs the stream records of a table to an HTTP endpoint, in AWS Lambda's "
          "event\n"
          "format. A server with `auth` needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (for\n"
          "temporary keys also AWS_SESSION_TOKEN) and its region in AWS_REGION.\n",
      VERBS(trigger_verbs),
      FLAGS(trigger_flags),
      .run = trigger_command },
    { .name = "export",
      .group = COMMAND_FOR_TABLES,
      .purpose = "write a table of a running server to a file or a bucket",
      .description =
          "Into a file: the table as it is now. Into a bucket, which needs point-in-time "
          "recovery:\n"
          "the table as it was at a moment, or what changed between two; prints the key of the\n"
          "manifest. Times are seconds since 1970, or like 2026-11-15T12:00:00Z. A server with\n"
          "`auth` needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY and its region in "
          "AWS_REGION.\n",
      VERBS(export_verbs),
      FLAGS(export_flags),
      .run = export_command },
    { .name = "fault",
      .group = COMMAND_FOR_MONITORING,
      .purpose = "make requests to a running server fail, to test clients",
      .description =
          "A fault throttles, delays or fails a share of the requests for the items of a table:\n"
          "Throttle, InternalServerError, TransactionConflict, ConditionalCheckFailed,\n"
          "CutConnection, LoseAnswer or Delay. Reasons of a Throttle are\n"
          "ProvisionedThroughputExceeded, KeyRangeThroughputExceeded,\n"
          "MaxOnDemandThroughputExceeded and AccountLimitExceeded.\n"
          "It ends by itself, and with the server. The server must have been started with\n"
          "--fault-injection. One with `auth` needs credentials as `stator trigger` does, and the\n"
          "rights stator:AddFault, stator:ListFaults and stator:RemoveFault.\n",
      VERBS(fault_verbs),
      FLAGS(fault_flags),
      .run = fault_command },
    { .name = "history",
      .group = COMMAND_FOR_RECOVERY,
      .purpose = "show the versions of an item, the newest first",
      .description =
          "Time, kind of change and the item after each change of an item whose table has\n"
          "point-in-time recovery. KEY is the value of the partition key, or the whole key as "
          "JSON:\n"
          "'{\"id\":{\"S\":\"a\"}}'. A server with `auth` needs credentials as `stator trigger` "
          "does,\n"
          "and the right stator:GetItemHistory.\n",
      VERBS(history_verbs),
      FLAGS(history_flags),
      .run = history_command },
    { .name = "import",
      .group = COMMAND_FOR_TABLES,
      .purpose = "fill a table from a file or a bucket",
      .description =
          "Reads items from FILE, or from standard input for -, and sends them by BatchWriteItem, "
          "to\n"
          "DynamoDB too. A line of DYNAMODB_JSON is {\"Item\":{...}}, as exports have it, and one "
          "of\n"
          "JSON is a plain object. With --bucket the server reads by itself: with --key by\n"
          "ImportTable, otherwise into the existing table by StartBulkPutItems. Records that "
          "cannot\n"
          "be imported are reported, and the exit code is 1.\n",
      VERBS(import_verbs),
      FLAGS(import_flags),
      .run = import_command },
    { .name = "top",
      .group = COMMAND_FOR_MONITORING,
      .purpose = "show a running server's load live, table by table",
      .description =
          "Tables by their rate of requests, with errors, latencies, consumed units and "
          "throttles.\n"
          "A server with `auth` needs credentials as `stator trigger` does, and the right\n"
          "stator:GetMeters; with --keys also stator:GetHotKeys.\n",
      VERBS(top_verbs),
      FLAGS(top_flags),
      .run = top_command },
    { .name = "simulate-capacity",
      .group = COMMAND_FOR_MONITORING,
      .purpose = "compare what each capacity mode would have cost and throttled",
      .description =
          "Reads what a table and its global indexes have consumed in each minute, and simulates\n"
          "it on demand, provisioned and with auto scaling, with the list prices of DynamoDB.\n"
          "Works with AWS as well: --endpoint https://dynamodb.REGION.amazonaws.com\n"
          "--cloudwatch-endpoint https://monitoring.REGION.amazonaws.com, with credentials in\n"
          "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY and the region in AWS_REGION. Needs\n"
          "dynamodb:DescribeTable and cloudwatch:GetMetricData.\n",
      VERBS(simulate_verbs),
      FLAGS(simulate_flags),
      .run = simulate_command },
    { .name = "jobs",
      .group = COMMAND_FOR_RECOVERY,
      .purpose = "show the backups, restores, exports and imports of a running server",
      .description = "Those that run, with their progress and ids. --cancel ends one; a table that "
                     "it makes is\n"
                     "removed. A server with `auth` needs credentials as `stator trigger` does, "
                     "and the right\n"
                     "stator:ListJobs, or stator:CancelJob.\n",
      VERBS(jobs_verbs),
      FLAGS(jobs_flags),
      .run = jobs_command },
    { .name = "recover",
      .group = COMMAND_FOR_RECOVERY,
      .purpose = "restore a table to a past moment, as a new table",
      .description =
          "Restores TABLE, which has point-in-time recovery, to a moment as another table, and\n"
          "waits for the end. If it is interrupted the server goes on: `stator jobs`. A server\n"
          "with `auth` needs credentials as `stator trigger` does, and the rights that\n"
          "RestoreTableToPointInTime or RestoreTableFromBackup need, and stator:ListJobs.\n",
      VERBS(recover_verbs),
      FLAGS(recover_flags),
      .run = recover_command },
    { .name = "backups",
      .group = COMMAND_FOR_RECOVERY,
      .purpose = "adopt table backups made by another server",
      .description =
          "Copies the backups of tables in DIR, such as the folder `backups` of another data\n"
          "directory, into that of --data-dir, and lists them there. With the setting\n"
          "`backup-bucket` and without DIR, lists those that are in that bucket. No server may "
          "use\n"
          "the store meanwhile; it is created if there is none. Exits with 1 if a backup is not\n"
          "usable.\n",
      VERBS(backups_verbs),
      .settings = STORE_SETTINGS " buckets backup-bucket s3-endpoint s3-region s3-key-file "
                                 "s3-retry-ms region account-id outbound-ca-file outbound-proxy",
      .needs_disk = "import backups",
      .run = backups_command },
    { .name = "regions",
      .group = COMMAND_FOR_MONITORING,
      .purpose = "show the replicas of global tables and how far behind they are",
      .description =
          "One line for each replica in another region, as a running server sees it: whether it\n"
          "can be reached, how many items wait to be sent, how far sending and receiving are\n"
          "behind, its clock, and how many stamps of the table are kept. A server with `auth`\n"
          "needs credentials as `stator trigger` does, and the right stator:DescribeRegions.\n",
      VERBS(regions_verbs),
      FLAGS(regions_flags),
      .run = regions_command },
    { .name = "slowlog",
      .group = COMMAND_FOR_MONITORING,
      .purpose = "show the slowest requests of a running server",
      .description =
          "The slowest of the last 256 requests that took --slow-request-ms or longer, with what\n"
          "they read and wrote. Nothing of items is shown. A server with `auth` needs credentials\n"
          "as `stator trigger` does, and the right stator:GetSlowRequests.\n",
      VERBS(slowlog_verbs),
      FLAGS(slowlog_flags),
      .run = slowlog_command },
    { .name = "healthcheck",
      .purpose = "check whether the server on this machine is ready",
      .description = "Prints `ready` and exits with 0 if it is; otherwise says why not and exits "
                     "with 1. Finds\n"
                     "the server by the same settings that it was started with.\n",
      VERBS(healthcheck_verbs),
      FLAGS(healthcheck_flags),
      .settings = "bind port tls-cert-file config",
      .run = healthcheck_command },
    { .name = "apply",
      .group = COMMAND_FOR_TABLES,
      .purpose = "create and update the tables that a template describes",
      .description =
          "FILE is a CloudFormation or SAM template (JSON or YAML), a cdk.out folder, a\n"
          "CreateTable request, the output of describe-table, or that of `terraform show\n"
          "-json`; - is standard input. The plan is shown before anything is done. Resources\n"
          "of other services are skipped. Credentials are read as by `stator trigger`. Exit\n"
          "codes: 0 done, 1 failed, 2 the command line or a file makes no sense; with --plan\n"
          "0 no changes, 3 changes pending.\n",
      VERBS(apply_verbs),
      FLAGS(apply_flags),
      .run = apply_command },
    { .name = "advise",
      .group = COMMAND_FOR_MONITORING,
      .purpose = "suggest cheaper and faster table designs, from how tables are used",
      .description = "Findings such as scans, filters that drop what was read, unused indexes, hot "
                     "keys or the\n"
                     "wrong billing mode, each with its evidence, what to do, and what it costs in "
                     "a month by\n"
                     "DynamoDB's list prices. Nothing of items is shown. A server with `auth` "
                     "needs credentials\n"
                     "as `stator trigger` does, and the right stator:GetAdvice.\n",
      VERBS(advise_verbs),
      FLAGS(advise_flags),
      .run = advise_command },
    { .name = "model",
      .group = COMMAND_FOR_TABLES,
      .purpose = "check models of tables: entities, access patterns, sample data",
      .description =
          "A model is a JSON file of NoSQL Workbench's form, with entities and access patterns;\n"
          "FILE may be - for stdin, or the name of a sample. `check` tells for each pattern which\n"
          "index serves it and why, finds entities whose keys collide, and projections that lack\n"
          "attributes or waste them. Then it loads the sample into a database in memory, runs "
          "every\n"
          "pattern, compares with what is expected, and prints items, units, pages and cost. It\n"
          "exits with 1 if something is wrong with the model, and with 2 if the file is none.\n",
      VERBS(model_verbs),
      FLAGS(model_flags),
      .run = model_command },
    { .name = "help",
      .purpose = "show help for the program or a command",
      .description = "Prints what `stator COMMAND --help` prints, or the list of commands.\n",
      VERBS(help_verbs),
      FLAGS(help_flags),
      .run = help_command },
    { .name = "version",
      .purpose = "show the version, the commit and the versions of libraries",
      .description = "Prints what -V and --version print.\n",
      VERBS(version_verbs),
      .run = version_command },
};
const size_t command_count = COUNT_OF(command_table);

const struct command *command_find(const char *name)
{
    for (size_t i = 0; i < command_count; i++)
        if (strcmp(name, command_table[i].name) == 0)
            return &command_table[i];
    return NULL;
}

const char *command_similar(const char *word)
{
    struct spelling spelling = spelling_of(bytes_from_text(word));
    for (size_t i = 0; i < command_count; i++)
        spelling_try(&spelling, command_table[i].name);
    return spelling.meant;
}

const char *command_value_of(const struct command_call *call, const char *flag)
{
    const char *text = NULL;
    for (size_t i = 0; i < call->value_count; i++)
        if (strcmp(call->values[i].flag->name, flag) == 0)
            text = call->values[i].text;
    return text;
}

int command_fail(int code, const char *what, const char *why)
{
    fprintf(stderr, "stator: %s: %s\n", what, why);
    return code;
}

int command_flush(void)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return COMMAND_OK;
    return command_fail(COMMAND_FAILED, "standard output", "cannot be written");
}
