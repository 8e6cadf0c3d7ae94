/* stack_driver.h -- carries out deployments: creates, updates, rolls back and deletes stacks.
 *
 * One thread takes all active stacks forward in turn, one resource at a time. What it does next
 * follows from what is stored: the stack's status, its resources and its template. It first stores
 * that a resource is IN_PROGRESS, then changes it by requests that a repetition does not harm, then
 * stores that it is COMPLETE. So a stack that a crash interrupted resumes where it was: the state
 * of the table tells which of the requests are still due.
 *
 * The thread starts with the first deployment; a server without stacks has none.
 */
#ifndef STATOR_API_CLOUDFORMATION_STACK_DRIVER_H
#define STATOR_API_CLOUDFORMATION_STACK_DRIVER_H

struct api;
struct stack_driver;

enum { STACK_DRIVER_RETRY_MS = 1000 }; /* After a failure of the store. */

struct stack_driver *stack_driver_create(struct api *api);
/* Once all of the api is there: resumes what was interrupted. */
void stack_driver_resume(struct stack_driver *driver);
/* There is something to do. Any thread but event loops. */
void stack_driver_wake(struct stack_driver *driver);
/* Ends the thread after its request. Before the control thread stops. */
void stack_driver_stop(struct stack_driver *driver);
void stack_driver_destroy(struct stack_driver *driver);

#endif
