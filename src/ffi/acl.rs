//! Permission for keys that are not among the arguments of a call.

use std::ptr::null_mut;

use redis_module::raw;

use super::{Access, Ctx, Str, api};

impl Ctx<'_> {
    /// Whether the user of this call may access a key that is not among its arguments. The server checks the others.
    ///
    /// A call without a user may access every key: one from the append only file, or from another module.
    pub fn may_access(self, key: &Str<'_>, access: Access) -> bool {
        let Some(user_name) = self.user_name() else { return true };
        let flags = match access {
            Access::Read => raw::REDISMODULE_CMD_KEY_ACCESS,
            Access::ReadWrite => raw::REDISMODULE_CMD_KEY_ACCESS | raw::REDISMODULE_CMD_KEY_UPDATE,
        };
        // SAFETY: live strings; the user is freed here, before anything can delete it.
        unsafe {
            let user = api!(RedisModule_GetModuleUserFromUserName(user_name.raw));
            if user.is_null() {
                return false;
            }
            let status = api!(RedisModule_ACLCheckKeyPermissions(user, key.raw, flags as _));
            api!(RedisModule_FreeModuleUser(user));
            status == raw::REDISMODULE_OK as _
        }
    }

    /// The name of the user of this call; `None` if there is no user.
    ///
    /// RM_GetCurrentUserName dereferences a null pointer if the client of the call has no user. The client of a
    /// connection is asked by its id, which is safe. A call from a script or another module has a client without a
    /// connection: there, RM_Call of a command that does not exist tells whether it has a user, and runs nothing.
    fn user_name(self) -> Option<Str<'static>> {
        // SAFETY: a live context; the module does not use automatic memory, so the string is owned.
        unsafe {
            let id = api!(RedisModule_GetClientId(self.raw));
            let mut name = api!(RedisModule_GetClientUserNameById(self.raw, id));
            if name.is_null() && errno() == libc::ENOENT {
                let reply = api!(RedisModule_Call(self.raw, c"rl.".as_ptr(), c"C".as_ptr()));
                debug_assert!(reply.is_null());
                name =
                    if errno() == libc::ENOTSUP { null_mut() } else { api!(RedisModule_GetCurrentUserName(self.raw)) };
            }
            (!name.is_null()).then(|| Str::owned(name))
        }
    }
}

fn errno() -> i32 {
    std::io::Error::last_os_error().raw_os_error().unwrap_or(0)
}
