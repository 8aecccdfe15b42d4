// Made by `npm run console:types` from the admin API's OpenAPI document.
export interface paths {
    "/api/v1/accounts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Lists the accounts of the service, oldest first
         * @description For operators of the platform who have signed in, not for API keys.
         */
        get: operations["listAccounts"];
        put?: never;
        /**
         * Makes an account and its first admin
         * @description For operators of the platform who have signed in, not for API keys.
         */
        post: operations["createAccount"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/accounts/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Suspends an account, or lets it go on
         * @description The keys and operators of a suspended account are refused within 5 s; its data stay. Nobody suspends their own: 409.
         *
         *     For operators of the platform who have signed in, not for API keys.
         */
        patch: operations["changeAccount"];
        trace?: never;
    };
    "/api/v1/audit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Who did what to which key, device or operator, newest first
         * @description For operators with the role admin, and for API keys with the scope `admin`.
         */
        get: operations["listAudit"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/console": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Where devices report to, and which map is shown
         * @description For any operator, and for API keys with the scope `admin`.
         */
        get: operations["getConsole"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/devices": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Lists devices with their status
         * @description By `deviceId`, pages read one after the other hold each device once. By `lastSeenAt`, a device
         *     that reports meanwhile moves, and may be shown twice or not at all.
         *
         *     For any operator, and for API keys with the scope `devices:read` or `admin`.
         */
        get: operations["listDevices"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/devices/{deviceId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * One device with its status
         * @description For any operator, and for API keys with the scope `devices:read` or `admin`.
         */
        get: operations["getDevice"];
        put?: never;
        post?: never;
        /**
         * Erases a device and all its records
         * @description Its status, its records and what operators said of it go. From this answer on they are absent (404),
         *     also what was on its way, until the device reports anew: then it starts afresh. The events stay in
         *     the log until its retention ends.
         *
         *     For operators with the role admin, and for API keys with the scope `admin`.
         */
        delete: operations["deleteDevice"];
        options?: never;
        head?: never;
        /**
         * Names a device, disables it, says how often it reports
         * @description A disabled device that is gone because it has not been seen for as long as records are kept can still
         *     be enabled again.
         *
         *     For operators with the role admin, and for API keys with the scope `admin`.
         */
        patch: operations["changeDevice"];
        trace?: never;
    };
    "/api/v1/devices/{deviceId}/activity": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * How many records a device has of each hour or day
         * @description At most 1000 steps; the last 30 days where no range is given.
         *
         *     For any operator, and for API keys with the scope `positions:read` or `admin`.
         */
        get: operations["getDeviceActivity"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/devices/{deviceId}/positions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * A device’s records by time
         * @description As a list in pages, or, with `format`, the whole range as a file. A file comes as it is read, without
         *     a Content-Length: one whose connection ends before it is complete is not the whole range.
         *
         *     For any operator, and for API keys with the scope `positions:read` or `admin`.
         */
        get: operations["listDevicePositions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/devices/{deviceId}/track": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * A device’s track for a map, thinned out
         * @description All records of the range make the totals; `rows` are those that show the way and its timing best. Where
         *     the device was at the time of a record that is left out, and where a straight way between the rows around
         *     it would put it at that time, are at most `toleranceMetres` apart.
         *
         *     For any operator, and for API keys with the scope `positions:read` or `admin`.
         */
        get: operations["getDeviceTrack"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/devices/summary": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * How many devices there are of each status
         * @description A device that is called `summary` is found at `/devices/%73ummary`.
         *
         *     For any operator, and for API keys with the scope `devices:read` or `admin`.
         */
        get: operations["getDeviceSummary"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Lists API keys, newest first
         * @description For any operator, and for API keys with the scope `admin`.
         */
        get: operations["listKeys"];
        put?: never;
        /**
         * Makes an API key; its secret is shown this once
         * @description For operators with the role admin, and for API keys with the scope `admin`.
         */
        post: operations["createKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/keys/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * One API key
         * @description For any operator, and for API keys with the scope `admin`.
         */
        get: operations["getKey"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Changes the name of an API key and what it is bound by
         * @description `null` takes `expiresAt`, `deviceIds` or `rateLimit` away. Services see it within 5 s.
         *
         *     For operators with the role admin, and for API keys with the scope `admin`.
         */
        patch: operations["changeKey"];
        trace?: never;
    };
    "/api/v1/keys/{id}/revoke": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Revokes an API key for good
         * @description For operators with the role admin, and for API keys with the scope `admin`.
         */
        post: operations["revokeKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/keys/{id}/rotate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Gives an API key a new secret, shown this once
         * @description The secret until now works for `graceSeconds` more (7 days unless given, 30 at most); one from before that no longer, so rotate again only once senders have the new one.
         *
         *     For operators with the role admin, and for API keys with the scope `admin`.
         */
        post: operations["rotateKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/keys/identify": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Tells which API key a secret is
         * @description Also one that is revoked or expired, and the secret from before a rotation. 10 times in 60 s.
         *
         *     For operators with the role admin, and for API keys with the scope `admin`.
         */
        post: operations["identifyKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/operators": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Lists the operators of the account, oldest first
         * @description For operators with the role admin, and for API keys with the scope `admin`.
         */
        get: operations["listOperators"];
        put?: never;
        /**
         * Lets somebody sign in to the account
         * @description An e-mail is unique in the whole service, case ignored. Only an operator of the platform sets `platform`.
         *
         *     For operators with the role admin who have signed in, not for API keys.
         */
        post: operations["createOperator"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/operators/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Removes an operator; the sessions end
         * @description The last admin of an account and the last operator of the platform stay: 409.
         *
         *     For operators with the role admin who have signed in, not for API keys.
         */
        delete: operations["deleteOperator"];
        options?: never;
        head?: never;
        /**
         * Changes the role, the password or the platform right of an operator
         * @description A new password ends all sessions of the operator. The last admin of an account and the last operator of the platform stay what they are: 409.
         *
         *     For operators with the role admin who have signed in, not for API keys.
         */
        patch: operations["changeOperator"];
        trace?: never;
    };
    "/api/v1/positions/{recordId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * One record
         * @description For any operator, and for API keys with the scope `positions:read` or `admin`.
         */
        get: operations["getPosition"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/rejections": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Lists reports that were refused, the latest first
         * @description Reports sent with a key of the account, kept for 7 days, at most the latest 10 000. Of more than 20
         *     that one key has refused in a second only the number is kept: one entry without device and body,
         *     whose `count` tells it.
         *
         *     For any operator, and for API keys with the scope `admin`.
         */
        get: operations["listRejections"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/rejections/summary": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * How many reports were refused, by error, key and device
         * @description Of those in the list; the 100 keys and devices with the most.
         *
         *     For any operator, and for API keys with the scope `admin`.
         */
        get: operations["getRejectionSummary"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/session": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Who is signed in, and until when
         * @description Is a use of the session like any other request, which an open stream is not. A use within a minute of the one before moves nothing.
         *
         *     For operators who have signed in, not for API keys.
         */
        get: operations["getSession"];
        put?: never;
        /**
         * Signs in
         * @description Open to everybody.
         */
        post: operations["signIn"];
        /**
         * Signs out
         * @description For operators who have signed in, not for API keys.
         */
        delete: operations["signOut"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/session/password": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Changes one’s own password; the other sessions end
         * @description For operators who have signed in, not for API keys.
         */
        post: operations["changePassword"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/shared": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Where the devices of a share are
         * @description What there is not, or not any more, is a 404.
         *
         *     For whoever has the token of a share.
         */
        get: operations["getShared"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/shared/stream": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The positions of a share’s devices as they come
         * @description Server-Sent Events: `position` with a device as in the call for the share, without its
         *     trail, and `heartbeat` every 4 s. They have no `id`: after a connection was lost, ask for the share
         *     again. The stream ends when the share does, and when a device leaves it.
         *
         *     For whoever has the token of a share.
         */
        get: operations["followShared"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/shares": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Lists shares, newest first, those that have expired for 7 days more
         * @description For operators with the role admin, and for API keys with the scope `admin`.
         */
        get: operations["listShares"];
        put?: never;
        /**
         * Makes a link that shows some devices; its token is shown this once
         * @description Whoever has the token sees where these devices are until `expiresAt`, at most 30 days from now, with a
         *     trail of `trailMinutes`: no ids, nothing of the account, and nothing from before the share was made.
         *     A device is there once it has reported since. An erased device leaves its shares for good. Open streams end within 5 s of a change.
         *
         *     For operators with the role admin, and for API keys with the scope `admin`.
         */
        post: operations["createShare"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/shares/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Revokes a share: its link shows nothing any more
         * @description For operators with the role admin, and for API keys with the scope `admin`.
         */
        delete: operations["deleteShare"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/stream": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Positions, device statuses and more as they come
         * @description Server-Sent Events (WHATWG HTML, section 9.2). It does not end by itself.
         *
         *     | event | data |
         *     | --- | --- |
         *     | `position` | A record, once it is in the log. Its `id` is an opaque mark of the place in the log |
         *     | `device-status` | A device whose last position or status has changed, at most 10 s late. It has no `id` and is not replayed |
         *     | `rejection` | A refused report, as in the list of rejections. It has no `id` and is not replayed; one may come twice and is known by its `rejectionId`. For operators, and for API keys with the scope `admin` |
         *     | `device-erased` | `{deviceId}` of a device that an operator has erased. Its `id` is a mark like a position's |
         *     | `heartbeat` | `{}`, at once and every 4 s. Its `id` moves the place in the log on |
         *     | `gap` | Events after the `Last-Event-ID` are no longer in the log, or cannot be read: what there is follows |
         *     | `lagging` | The connection is too slow and ends: connect again with the last `id` |
         *
         *     A client that sends the last `id` it has seen in the header `Last-Event-ID`, as browsers do when
         *     they connect again, misses no position and no erasure; a record may come twice and is known by its `recordId`.
         *     Records of erased devices are not replayed.
         *
         *     For any operator, and for API keys with the scope `positions:read` or `admin`.
         */
        get: operations["followStream"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/system": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * How the service is doing
         * @description Made of what each running service writes down every 10 s; one that has not for 30 s is left out.
         *
         *     For any operator, and for API keys with the scope `admin`.
         */
        get: operations["getSystem"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/system/history": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * How the service has been doing, minute by minute, from the oldest
         * @description Made of the last report of each running service in each minute, kept for 24 hours. What nothing has told is null.
         *
         *     For any operator, and for API keys with the scope `admin`.
         */
        get: operations["getSystemHistory"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/test-report": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Sends a report with an API key of the account, as a device would
         * @description Answers 200 with what the ingest API has answered, whatever that is. What it accepts is a report like
         *     any other. Unless the key is one of the account's, nothing is sent; nor with one that is revoked or
         *     expired, which is a 401. 10 times in 60 s.
         *
         *     For operators with the role admin, and for API keys with the scope `admin`.
         */
        post: operations["sendTestReport"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        Account: {
            /** Format: date-time */
            createdAt: string;
            id: string;
            name: string;
            suspended: boolean;
        };
        AccountPage: {
            items: components["schemas"]["Account"][];
            /** @description What to send as `cursor` for the next page; null on the last one */
            nextCursor: string | null;
        };
        AccountWithAdmin: {
            admin: {
                email: string;
                id: string;
                /** @enum {unknown} */
                role: "admin" | "viewer";
            };
            /** Format: date-time */
            createdAt: string;
            id: string;
            name: string;
            suspended: boolean;
        };
        Activity: {
            items: components["schemas"]["ActivityStep"][];
        };
        ActivityStep: {
            /** @description Records of the range only */
            count: number;
            /**
             * Format: date-time
             * @description When the hour or day begins in the time zone
             */
            start: string;
        };
        /** @description What was set; never a secret */
        AuditDetails: {
            [key: string]: unknown;
        };
        AuditEntry: {
            /** @description A fact in the past tense, `key.created` */
            action: string;
            actor: {
                id: string;
                /** @enum {unknown} */
                kind: "operator" | "key";
                /** @description The e-mail or the name of the key, as it was then */
                name: string;
            };
            /** @description The address of the client; `platform` where the platform did it, `command line` where `npm run set-password` did */
            address: string;
            /** Format: date-time */
            at: string;
            details: components["schemas"]["AuditDetails"] | null;
            /** @description ULID */
            id: string;
            requestId: string;
            subject: {
                id: string;
                /** @enum {unknown} */
                kind: "key" | "device" | "operator" | "account" | "session" | "share";
            };
        };
        AuditEntryPage: {
            items: components["schemas"]["AuditEntry"][];
            /** @description What to send as `cursor` for the next page; null on the last one */
            nextCursor: string | null;
        };
        ChangedDevice: {
            deviceId: string;
            /** @description Its reports are refused */
            disabled: boolean;
            expectedIntervalSeconds?: number;
            /** Format: date-time */
            firstSeenAt?: string;
            lastPosition?: components["schemas"]["LastPosition"];
            /**
             * Format: date-time
             * @description The newest receipt of its records and heartbeats
             */
            lastSeenAt?: string;
            name: string | null;
            /** @description Stored records, each once */
            reportCount: number;
            /** @enum {unknown} */
            status: "online" | "idle" | "offline";
        };
        CONFLICT: {
            /** @constant */
            code: 409;
            /** @constant */
            error: "CONFLICT";
            /** @description What was wrong and what to send instead */
            message: string;
            /** @constant */
            success: false;
        };
        Console: {
            /** @description Where devices reach the ingest API: `/api/v1/gps/submit` follows. Null where it is not known: INGEST_PUBLIC_URL says it */
            ingestUrl: string | null;
            /** @description Only programs on the same machine reach it */
            loopback: boolean;
            map: components["schemas"]["ConsoleMap"];
        };
        /** @description A map over the console’s own base map; null: none */
        ConsoleMap: {
            /** @description Plain text */
            attribution: string | null;
            /**
             * @description Raster tiles, or a PMTiles file
             * @enum {unknown}
             */
            kind: "tiles" | "pmtiles";
            /** @description Null: as the map itself says */
            maxZoom: number | null;
            /** @description Of tiles with `{z}`, `{x}` and `{y}`; a path is one of this API */
            url: string;
        } | null;
        Device: {
            deviceId: string;
            /** @description Its reports are refused */
            disabled: boolean;
            expectedIntervalSeconds?: number;
            /** Format: date-time */
            firstSeenAt: string;
            lastPosition: components["schemas"]["LastPosition"];
            /**
             * Format: date-time
             * @description The newest receipt of its records and heartbeats
             */
            lastSeenAt: string;
            name: string | null;
            /** @description Stored records, each once */
            reportCount: number;
            /** @enum {unknown} */
            status: "online" | "idle" | "offline";
        };
        DeviceErasure: {
            deviceId: string;
            /** Format: date-time */
            erasedAt: string;
        };
        DevicePage: {
            items: components["schemas"]["Device"][];
            /** @description What to send as `cursor` for the next page; null on the last one */
            nextCursor: string | null;
        };
        DeviceSummary: {
            /**
             * Format: date-time
             * @description When the statuses were computed
             */
            asOf: string;
            /** @description Those disabled, which have a status too */
            disabled: number;
            idle: number;
            offline: number;
            online: number;
            /** @description Of the next three together */
            total: number;
        };
        FORBIDDEN: {
            /** @constant */
            code: 403;
            /** @constant */
            error: "FORBIDDEN";
            /** @description What was wrong and what to send instead */
            message: string;
            /** @constant */
            success: false;
        };
        HEADERS_TOO_LARGE: {
            /** @constant */
            code: 431;
            /** @constant */
            error: "HEADERS_TOO_LARGE";
            /** @description What was wrong and what to send instead */
            message: string;
            /** @constant */
            success: false;
        };
        /** @description Its body */
        IngestAnswer: {
            [key: string]: unknown;
        };
        Instance: {
            host: string;
            /** Format: date-time */
            reportedAt: string;
            /** @enum {unknown} */
            service: "ingest-api" | "projector" | "admin-api";
            /** Format: date-time */
            startedAt: string;
            version: string;
        };
        INVALID_PARAMS: {
            /** @constant */
            code: 400;
            /** @description Every faulty field, each once */
            details?: {
                field: string;
                message: string;
            }[];
            /** @constant */
            error: "INVALID_PARAMS";
            /** @description What was wrong and what to send instead */
            message: string;
            /** @constant */
            success: false;
        };
        Key: {
            /** Format: date-time */
            createdAt: string;
            deviceIds: string[] | null;
            /** Format: date-time */
            expiresAt: string | null;
            /** @description First and last characters of the secret */
            hint: string;
            id: string;
            /** Format: date-time */
            lastUsedAt: string | null;
            name: string;
            /**
             * Format: date-time
             * @description After a rotation: until when the secret before works too
             */
            previousValidUntil: string | null;
            /** @description Positions per 60 s */
            rateLimit: number | null;
            /** Format: date-time */
            revokedAt: string | null;
            scopes: ("positions:write" | "positions:read" | "devices:read" | "admin")[];
            /** @enum {unknown} */
            status: "active" | "expired" | "revoked" | "rotating";
        };
        KeyPage: {
            items: components["schemas"]["Key"][];
            /** @description What to send as `cursor` for the next page; null on the last one */
            nextCursor: string | null;
        };
        KeyWithSecret: {
            /** Format: date-time */
            createdAt: string;
            deviceIds: string[] | null;
            /** Format: date-time */
            expiresAt: string | null;
            /** @description First and last characters of the secret */
            hint: string;
            id: string;
            /** @description The secret, shown this once */
            key: string;
            /** Format: date-time */
            lastUsedAt: string | null;
            name: string;
            /**
             * Format: date-time
             * @description After a rotation: until when the secret before works too
             */
            previousValidUntil: string | null;
            /** @description Positions per 60 s */
            rateLimit: number | null;
            /** Format: date-time */
            revokedAt: string | null;
            scopes: ("positions:write" | "positions:read" | "devices:read" | "admin")[];
            /** @enum {unknown} */
            status: "active" | "expired" | "revoked" | "rotating";
        };
        LastPosition: {
            /** @description Metres */
            accuracy?: number;
            /** @description Metres */
            altitude?: number;
            /** @description A fraction from 0 to 1 */
            battery?: number;
            /** @description Degrees clockwise from north */
            heading?: number;
            latitude: number;
            longitude: number;
            /**
             * Format: date-time
             * @description When the report was received
             */
            receivedAt: string;
            /** @description ULID */
            recordId: string;
            /** @description Metres per second */
            speed?: number;
            /**
             * Format: date-time
             * @description When the position was true
             */
            timestamp: string;
        };
        NOT_FOUND: {
            /** @constant */
            code: 404;
            /** @constant */
            error: "NOT_FOUND";
            /** @description What was wrong and what to send instead */
            message: string;
            /** @constant */
            success: false;
        };
        Operator: {
            /** Format: date-time */
            createdAt: string;
            email: string;
            id: string;
            /** @description May make and suspend accounts */
            platform: boolean;
            /** @enum {unknown} */
            role: "admin" | "viewer";
        };
        OperatorPage: {
            items: components["schemas"]["Operator"][];
            /** @description What to send as `cursor` for the next page; null on the last one */
            nextCursor: string | null;
        };
        PAYLOAD_TOO_LARGE: {
            /** @constant */
            code: 413;
            /** @constant */
            error: "PAYLOAD_TOO_LARGE";
            /** @description What was wrong and what to send instead */
            message: string;
            /** @constant */
            success: false;
        };
        RATE_LIMITED: {
            /** @constant */
            code: 429;
            /** @constant */
            error: "RATE_LIMITED";
            /** @description What was wrong and what to send instead */
            message: string;
            /** @constant */
            success: false;
        };
        Record: {
            /** @description Metres */
            accuracy?: number;
            /** @description Metres */
            altitude?: number;
            /** @description A fraction from 0 to 1 */
            battery?: number;
            deviceId: string;
            /** @description Degrees clockwise from north */
            heading?: number;
            latitude: number;
            longitude: number;
            /**
             * Format: date-time
             * @description When the report was received
             */
            receivedAt: string;
            /** @description ULID */
            recordId: string;
            /** @description Metres per second */
            speed?: number;
            /**
             * Format: date-time
             * @description When the position was true
             */
            timestamp: string;
        };
        RecordFeature: {
            geometry: {
                /** @description Longitude, latitude and, where it is known, altitude */
                coordinates: number[];
                /** @constant */
                type: "Point";
            };
            properties: components["schemas"]["RecordProperties"];
            /** @constant */
            type: "Feature";
        };
        RecordFeatures: {
            features: components["schemas"]["RecordFeature"][];
            /** @constant */
            type: "FeatureCollection";
        };
        /** @description A Record as JSON on each line; every line ends with a line feed */
        RecordLines: string;
        RecordPage: {
            items: components["schemas"]["Record"][];
            /** @description What to send as `cursor` for the next page; null on the last one */
            nextCursor: string | null;
        };
        RecordProperties: {
            /** @description Metres */
            accuracy?: number;
            /** @description A fraction from 0 to 1 */
            battery?: number;
            deviceId: string;
            /** @description Degrees clockwise from north */
            heading?: number;
            /**
             * Format: date-time
             * @description When the report was received
             */
            receivedAt: string;
            /** @description ULID */
            recordId: string;
            /** @description Metres per second */
            speed?: number;
            /**
             * Format: date-time
             * @description When the position was true
             */
            timestamp: string;
        };
        /** @description RFC 4180 with a header row: recordId, deviceId, latitude, longitude, timestamp, receivedAt, accuracy, altitude, speed, heading, battery. A text that begins with =, +, -, @, a tab or a line break has an apostrophe before it, also after a semicolon */
        RecordRows: string;
        /** @description GPX 1.1: one track with one segment, named after the device; speed and course as Garmin’s TrackPointExtension v2 */
        RecordTrack: string;
        Rejection: {
            /** @description The beginning of the body as text, at most 2 KiB */
            body?: string;
            /** @description How many refused reports this tells of */
            count: number;
            /** @description As the report gave it */
            deviceId?: string;
            /** @enum {unknown} */
            error: "INVALID_PARAMS" | "FORBIDDEN" | "PAYLOAD_TOO_LARGE" | "RATE_LIMITED";
            keyId: string;
            /** @description What the sender was told */
            message: string;
            /**
             * Format: date-time
             * @description When the report, or the last of those counted, came
             */
            receivedAt: string;
            /** @description ULID */
            rejectionId: string;
        };
        RejectionPage: {
            items: components["schemas"]["Rejection"][];
            /** @description What to send as `cursor` for the next page; null on the last one */
            nextCursor: string | null;
        };
        RejectionsByDeviceId: {
            count: number;
            deviceId: string;
        };
        RejectionsByError: {
            count: number;
            /** @enum {unknown} */
            error: "INVALID_PARAMS" | "FORBIDDEN" | "PAYLOAD_TOO_LARGE" | "RATE_LIMITED";
        };
        RejectionsByKeyId: {
            count: number;
            keyId: string;
        };
        RejectionSummary: {
            /** @description The most frequent first */
            byDevice: components["schemas"]["RejectionsByDeviceId"][];
            /** @description The most frequent first */
            byError: components["schemas"]["RejectionsByError"][];
            /** @description The most frequent first */
            byKey: components["schemas"]["RejectionsByKeyId"][];
            total: number;
        };
        REQUEST_TIMEOUT: {
            /** @constant */
            code: 408;
            /** @constant */
            error: "REQUEST_TIMEOUT";
            /** @description What was wrong and what to send instead */
            message: string;
            /** @constant */
            success: false;
        };
        SERVER_ERROR: {
            /** @constant */
            code: 500;
            /** @constant */
            error: "SERVER_ERROR";
            /** @description What was wrong and what to send instead */
            message: string;
            /** @constant */
            success: false;
        };
        Service: {
            service: string;
            version: string;
        };
        SERVICE_UNAVAILABLE: {
            /** @constant */
            code: 503;
            /** @constant */
            error: "SERVICE_UNAVAILABLE";
            /** @description What was wrong and what to send instead */
            message: string;
            /** @constant */
            success: false;
        };
        Share: {
            /** Format: date-time */
            createdAt: string;
            /** @description Without erased ones */
            deviceIds: string[];
            /** Format: date-time */
            expiresAt: string;
            /** @description ULID */
            id: string;
            name: string;
            /** @enum {unknown} */
            status: "active" | "expired";
            trailMinutes: number;
        };
        Shared: {
            /**
             * Format: date-time
             * @description For the ages of the positions
             */
            asOf: string;
            /** Format: date-time */
            expiresAt: string;
            items: components["schemas"]["SharedDevice"][];
            name: string;
            trailMinutes: number;
        };
        SharedDevice: {
            /** @description Degrees clockwise from north */
            heading?: number;
            latitude: number;
            longitude: number;
            name: string;
            /** @description Tells the devices of this share apart */
            ref: string;
            /** @description Metres per second */
            speed?: number;
            /**
             * Format: date-time
             * @description When the position was true
             */
            timestamp: string;
            /** @description From the oldest; at most 200 places */
            trail?: components["schemas"]["SharedPlace"][];
        };
        SharedPlace: {
            latitude: number;
            longitude: number;
            /**
             * Format: date-time
             * @description When the position was true
             */
            timestamp: string;
        };
        SharePage: {
            items: components["schemas"]["Share"][];
            /** @description What to send as `cursor` for the next page; null on the last one */
            nextCursor: string | null;
        };
        ShareWithToken: {
            /** Format: date-time */
            createdAt: string;
            /** @description Without erased ones */
            deviceIds: string[];
            /** Format: date-time */
            expiresAt: string;
            /** @description ULID */
            id: string;
            name: string;
            /** @enum {unknown} */
            status: "active" | "expired";
            /** @description The secret of the link, shown this once */
            token: string;
            trailMinutes: number;
        };
        SignedIn: {
            account: {
                id: string;
                name: string;
            };
            /**
             * Format: date-time
             * @description When it ends anyhow
             */
            endsAt: string;
            /**
             * Format: date-time
             * @description When the session ends if no other request uses it
             */
            idleEndsAt: string;
            operator: {
                email: string;
                id: string;
                platform: boolean;
                /** @enum {unknown} */
                role: "admin" | "viewer";
            };
        };
        System: {
            /** @description Positions of the last 60 s */
            acceptedPerMinute: number;
            /** @description Events in the log that could not be read; null while nothing tells it */
            deadLetters: number | null;
            instances: components["schemas"]["Instance"][];
            /** @description How far what is shown is behind what was accepted; null while nothing tells it */
            lag: {
                events: number;
                /** @description The age of the oldest event not yet shown */
                seconds: number;
            } | null;
            /** @enum {unknown} */
            mode: "embedded" | "distributed";
            /** @description Reports of the last 60 s */
            refusedPerMinute: number;
            /** @description Accepted events that wait for the log at all ingest APIs; null where none has a spool */
            spool: {
                bytes: number;
                events: number;
                /** @description The age of the oldest; 0 when there is none */
                oldestSeconds: number;
            } | null;
            version: string;
        };
        SystemHistory: {
            items: components["schemas"]["SystemMinute"][];
        };
        SystemMinute: {
            /** @description Positions */
            accepted: number | null;
            /** @description In the log at that time */
            deadLetters: number | null;
            lag: components["schemas"]["SystemMinuteLag"];
            /** @description Reports */
            refused: number | null;
            /** Format: date-time */
            start: string;
        };
        SystemMinuteLag: {
            events: number;
            seconds: number;
        } | null;
        TestReportAnswer: {
            body: components["schemas"]["IngestAnswer"];
            /** @description The HTTP status of the ingest API’s answer */
            status: number;
        };
        Track: {
            bounds: components["schemas"]["TrackBounds"];
            /** @description `timestamp`, `latitude`, `longitude`, `accuracy`, `altitude`, `speed`, `heading`, `battery`, `recordId` */
            columns: string[];
            /** @description From record to record, without steps that take more than an hour or are faster than 300 m/s */
            distanceMetres: number;
            /** @description Silences after which the device counts as offline, by its expected interval or else by its usual one, and steps faster than 300 m/s; at most a quarter of `points`, the longest. They lie between rows that follow one another */
            gaps: components["schemas"]["TrackGap"][];
            /** @description Metres per second: the greatest that was reported, or, where none was, the greatest between records */
            maxSpeed: number | null;
            /** @description At 0.5 m/s or more, gaps excluded */
            movingSeconds: number;
            /** @description By time, each with a value or null for each of the columns */
            rows: unknown[][];
            /** @description How many of them are in `rows` */
            shown: number;
            toleranceMetres: number;
            /** @description How many records the range has */
            total: number;
        };
        /** @description The smallest box around all records; west above east crosses the 180th meridian */
        TrackBounds: {
            east: number;
            north: number;
            south: number;
            west: number;
        } | null;
        TrackGap: {
            /** Format: date-time */
            from: string;
            /** Format: date-time */
            to: string;
        };
        UNAUTHORIZED: {
            /** @constant */
            code: 401;
            /** @constant */
            error: "UNAUTHORIZED";
            /** @description What was wrong and what to send instead */
            message: string;
            /** @constant */
            success: false;
        };
        UNSUPPORTED_MEDIA_TYPE: {
            /** @constant */
            code: 415;
            /** @constant */
            error: "UNSUPPORTED_MEDIA_TYPE";
            /** @description What was wrong and what to send instead */
            message: string;
            /** @constant */
            success: false;
        };
    };
    responses: {
        /** @description What was asked for contradicts what there is */
        CONFLICT: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["CONFLICT"];
            };
        };
        /** @description The caller is known and may not do this */
        FORBIDDEN: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["FORBIDDEN"];
            };
        };
        /** @description The request line and headers are larger than 16 KiB, or there are more than 100 headers */
        HEADERS_TOO_LARGE: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["HEADERS_TOO_LARGE"];
            };
        };
        /** @description The request is faulty; `details` names each faulty field and what to send instead */
        INVALID_PARAMS: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["INVALID_PARAMS"];
            };
        };
        /** @description There is no such thing, or it belongs to another account */
        NOT_FOUND: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["NOT_FOUND"];
            };
        };
        /** @description The body is larger than the call takes */
        PAYLOAD_TOO_LARGE: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["PAYLOAD_TOO_LARGE"];
            };
        };
        /** @description Too many requests; the same one may succeed after `Retry-After` seconds */
        RATE_LIMITED: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["RATE_LIMITED"];
            };
        };
        /** @description The request arrived too slowly */
        REQUEST_TIMEOUT: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["REQUEST_TIMEOUT"];
            };
        };
        /** @description A fault of ours; tell us the `X-Request-Id` */
        SERVER_ERROR: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["SERVER_ERROR"];
            };
        };
        /** @description This cannot be done right now; send it again after `Retry-After` seconds */
        SERVICE_UNAVAILABLE: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["SERVICE_UNAVAILABLE"];
            };
        };
        /** @description No valid credentials were sent; one and the same answer for all that are not */
        UNAUTHORIZED: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["UNAUTHORIZED"];
            };
        };
        /** @description The body’s Content-Type or Content-Encoding is not one the call takes */
        UNSUPPORTED_MEDIA_TYPE: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["UNSUPPORTED_MEDIA_TYPE"];
            };
        };
    };
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    listAccounts: {
        parameters: {
            query?: {
                /** @description The `nextCursor` of the page before; the other parameters stay as they were */
                cursor?: string;
                /** @description How many things a page holds at most */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Lists the accounts of the service, oldest first */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 200;
                        data: components["schemas"]["AccountPage"];
                        /** @description For people */
                        message: string;
                        /** @constant */
                        success: true;
                    };
                };
            };
        };
    };
    createAccount: {
        parameters: {
            query?: never;
            header?: {
                /** @description Must be `console` where the session cookie is sent */
                "X-Requested-With"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    admin: {
                        /** Format: email */
                        email: string;
                        password: string;
                    };
                    name: string;
                };
            };
        };
        responses: {
            /** @description Makes an account and its first admin */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 201;
                        data: components["schemas"]["AccountWithAdmin"];
                        /** @description For people */
                        message: string;
                        /** @constant */
                        success: true;
                    };
                };
            };
        };
    };
    changeAccount: {
        parameters: {
            query?: never;
            header?: {
                /** @description Must be `console` where the session cookie is sent */
                "X-Requested-With"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    suspended: boolean;
                };
            };
        };
        responses: {
            /** @description Suspends an account, or lets it go on */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 200;
                        data: components["schemas"]["Account"];
                        /** @description For people */
                        message: string;
                        /** @constant */
                        success: true;
                    };
                };
            };
        };
    };
    listAudit: {
        parameters: {
            query?: {
                /** @description What was done, for example `key.created` */
                action?: string;
                /** @description The `nextCursor` of the page before; the other parameters stay as they were */
                cursor?: string;
                /** @description The earliest `at` */
                from?: string;
                /** @description How many things a page holds at most */
                limit?: number;
                /** @description What this operator did */
                operatorId?: string;
                /** @description What was done to this key, device … */
                subjectId?: string;
                /** @description The `at` before which it ends */
                to?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Who did what to which key, device or operator, newest first */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 200;
                        data: components["schemas"]["AuditEntryPage"];
                        /** @description For people */
                        message: string;
                        /** @constant */
                        success: true;
                    };
                };
            };
        };
    };
    getConsole: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Where devices report to, and which map is shown */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 200;
                        data: components["schemas"]["Console"];
                        /** @description For people */
                        message: string;
                        /** @constant */
                        success: true;
                    };
                };
            };
        };
    };
    listDevices: {
        parameters: {
            query?: {
                /** @description Where the last position is: `west,south,east,north` in WGS84 degrees, edges included; west above east crosses the 180th meridian */
                bbox?: string;
                /** @description The `nextCursor` of the page before; the other parameters stay as they were */
                cursor?: string;
                /** @description How many things a page holds at most */
                limit?: number;
                /** @description A text that the deviceId or the name contains, capital or small letters alike */
                q?: string;
                /** @description The order, by the bytes of the deviceId or by time; `-` turns it round */
                sort?: "deviceId" | "-deviceId" | "lastSeenAt" | "-lastSeenAt";
                /** @description The status, computed when read */
                status?: "online" | "idle" | "offline";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Lists devices with their status */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 200;
                        data: components["schemas"]["DevicePage"];
                        /** @description For people */
                        message: string;
                        /** @constant */
                        success: true;
                    };
                };
            };
        };
    };
    getDevice: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                deviceId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One device with its status */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 200;
                        data: components["schemas"]["Device"];
                        /** @description For people */
                        message: string;
                        /** @constant */
                        success: true;
                    };
                };
            };
        };
    };
    deleteDevice: {
        parameters: {
            query?: never;
            header?: {
                /** @description Must be `console` where the session cookie is sent */
                "X-Requested-With"?: string;
            };
            path: {
                deviceId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Erases a device and all its records */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 202;
                        data: components["schemas"]["DeviceErasure"];
                        /** @description For people */
                        message: string;
                        /** @constant */
                        success: true;
                    };
                };
            };
        };
    };
    changeDevice: {
        parameters: {
            query?: never;
            header?: {
                /** @description Must be `console` where the session cookie is sent */
                "X-Requested-With"?: string;
            };
            path: {
                deviceId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    disabled?: boolean;
                    expectedIntervalSeconds?: number | null;
                    name?: string | null;
                };
            };
        };
        responses: {
            /** @description Names a device, disables it, says how often it reports */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 200;
                        data: components["schemas"]["ChangedDevice"];
                        /** @description For people */
                        message: string;
                        /** @constant */
                        success: true;
                    };
                };
            };
        };
    };
    getDeviceActivity: {
        parameters: {
            query?: {
                /** @description The earliest `timestamp` */
                from?: string;
                /** @description How long each step is */
                step?: "hour" | "day";
                /** @description The `timestamp` before which it ends */
                to?: string;
                /** @description The time zone whose hours or days are meant */
                tz?: string;
            };
            header?: never;
            path: {
                deviceId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description How many records a device has of each hour or day */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 200;
                        data: components["schemas"]["Activity"];
                        /** @description For people */
                        message: string;
                        /** @constant */
                        success: true;
                    };
                };
            };
        };
    };
    listDevicePositions: {
        parameters: {
            query?: {
                /** @description The `nextCursor` of the page before; the other parameters stay as they were; with json only */
                cursor?: string;
                /** @description json is a page of the list; the others are the whole range as a file */
                format?: "json" | "geojson" | "gpx" | "csv" | "ndjson";
                /** @description The earliest `timestamp` */
                from?: string;
                /** @description 1 to 1000, 100 where it is not given; with json only */
                limit?: number;
                /** @description By `timestamp`, from the oldest (`asc`) or from the newest (`desc`). `desc` is the default of json, `asc` that of the other formats: a track is expected in the order of time */
                order?: "asc" | "desc";
                /** @description The `timestamp` before which it ends */
                to?: string;
            };
            header?: never;
            path: {
                deviceId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A device’s records by time */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/geo+json": components["schemas"]["RecordFeatures"];
                    "application/gpx+xml": components["schemas"]["RecordTrack"];
                    "application/json": {
                        /** @constant */
                        code: 200;
                        data: components["schemas"]["RecordPage"];
                        /** @description For people */
                        message: string;
                        /** @constant */
                        success: true;
                    };
                    "application/x-ndjson": components["schemas"]["RecordLines"];
                    "text/csv": components["schemas"]["RecordRows"];
                };
            };
        };
    };
    getDeviceTrack: {
        parameters: {
            query?: {
                /** @description The earliest `timestamp` */
                from?: string;
                /** @description How many records are shown at most */
                points?: number;
                /** @description The `timestamp` before which it ends */
                to?: string;
            };
            header?: never;
            path: {
                deviceId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A device’s track for a map, thinned out */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 200;
                        data: components["schemas"]["Track"];
                        /** @description For people */
                        message: string;
                        /** @constant */
                        success: true;
                    };
                };
            };
        };
    };
    getDeviceSummary: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description How many devices there are of each status */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 200;
                        data: components["schemas"]["DeviceSummary"];
                        /** @description For people */
                        message: string;
                        /** @constant */
                        success: true;
                    };
                };
            };
        };
    };
    listKeys: {
        parameters: {
            query?: {
                /** @description The `nextCursor` of the page before; the other parameters stay as they were */
                cursor?: string;
                /** @description How many things a page holds at most */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Lists API keys, newest first */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 200;
                        data: components["schemas"]["KeyPage"];
                        /** @description For people */
                        message: string;
                        /** @constant */
                        success: true;
                    };
                };
            };
        };
    };
    createKey: {
        parameters: {
            query?: never;
            header?: {
                /** @description Must be `console` where the session cookie is sent */
                "X-Requested-With"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    deviceIds?: string[] | null;
                    /** Format: date-time */
                    expiresAt?: string | null;
                    name: string;
                    rateLimit?: number | null;
                    scopes?: ("positions:write" | "positions:read" | "devices:read" | "admin")[] | null;
                };
            };
        };
        responses: {
            /** @description Makes an API key; its secret is shown this once */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 201;
                        data: components["schemas"]["KeyWithSecret"];
                        /** @description For people */
                        message: string;
                        /** @constant */
                        success: true;
                    };
                };
            };
        };
    };
    getKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One API key */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 200;
                        data: components["schemas"]["Key"];
                        /** @description For people */
                        message: string;
                        /** @constant */
                        success: true;
                    };
                };
            };
        };
    };
    changeKey: {
        parameters: {
            query?: never;
            header?: {
                /** @description Must be `console` where the session cookie is sent */
                "X-Requested-With"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    deviceIds?: string[] | null;
                    /** Format: date-time */
                    expiresAt?: string | null;
                    name?: string;
                    rateLimit?: number | null;
                };
            };
        };
        responses: {
            /** @description Changes the name of an API key and what it is bound by */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 200;
                        data: components["schemas"]["Key"];
                        /** @description For people */
                        message: string;
                        /** @constant */
                        success: true;
                    };
                };
            };
        };
    };
    revokeKey: {
        parameters: {
            query?: never;
            header?: {
                /** @description Must be `console` where the session cookie is sent */
                "X-Requested-With"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Revokes an API key for good */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 200;
                        data: components["schemas"]["Key"];
                        /** @description For people */
                        message: string;
                        /** @constant */
                        success: true;
                    };
                };
            };
        };
    };
    rotateKey: {
        parameters: {
            query?: never;
            header?: {
                /** @description Must be `console` where the session cookie is sent */
                "X-Requested-With"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @default 604800 */
                    graceSeconds?: number | null;
                };
            };
        };
        responses: {
            /** @description Gives an API key a new secret, shown this once */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 200;
                        data: components["schemas"]["KeyWithSecret"];
                        /** @description For people */
                        message: string;
                        /** @constant */
                        success: true;
                    };
                };
            };
        };
    };
    identifyKey: {
        parameters: {
            query?: never;
            header?: {
                /** @description Must be `console` where the session cookie is sent */
                "X-Requested-With"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    key: string;
                };
            };
        };
        responses: {
            /** @description Tells which API key a secret is */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 200;
                        data: components["schemas"]["Key"];
                        /** @description For people */
                        message: string;
                        /** @constant */
                        success: true;
                    };
                };
            };
        };
    };
    listOperators: {
        parameters: {
            query?: {
                /** @description The `nextCursor` of the page before; the other parameters stay as they were */
                cursor?: string;
                /** @description How many things a page holds at most */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Lists the operators of the account, oldest first */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 200;
                        data: components["schemas"]["OperatorPage"];
                        /** @description For people */
                        message: string;
                        /** @constant */
                        success: true;
                    };
                };
            };
        };
    };
    createOperator: {
        parameters: {
            query?: never;
            header?: {
                /** @description Must be `console` where the session cookie is sent */
                "X-Requested-With"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** Format: email */
                    email: string;
                    password: string;
                    platform?: boolean | null;
                    /** @enum {string} */
                    role: "admin" | "viewer";
                };
            };
        };
        responses: {
            /** @description Lets somebody sign in to the account */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 201;
                        data: components["schemas"]["Operator"];
                        /** @description For people */
                        message: string;
                        /** @constant */
                        success: true;
                    };
                };
            };
        };
    };
    deleteOperator: {
        parameters: {
            query?: never;
            header?: {
                /** @description Must be `console` where the session cookie is sent */
                "X-Requested-With"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Removes an operator; the sessions end */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 200;
                        /**
                         * @description Always null
                         * @constant
                         */
                        data: unknown;
                        /** @description For people */
                        message: string;
                        /** @constant */
                        success: true;
                    };
                };
            };
        };
    };
    changeOperator: {
        parameters: {
            query?: never;
            header?: {
                /** @description Must be `console` where the session cookie is sent */
                "X-Requested-With"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    password?: string;
                    platform?: boolean;
                    /** @enum {string} */
                    role?: "admin" | "viewer";
                };
            };
        };
        responses: {
            /** @description Changes the role, the password or the platform right of an operator */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 200;
                        data: components["schemas"]["Operator"];
                        /** @description For people */
                        message: string;
                        /** @constant */
                        success: true;
                    };
                };
            };
        };
    };
    getPosition: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                recordId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One record */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 200;
                        data: components["schemas"]["Record"];
                        /** @description For people */
                        message: string;
                        /** @constant */
                        success: true;
                    };
                };
            };
        };
    };
    listRejections: {
        parameters: {
            query?: {
                /** @description The `nextCursor` of the page before; the other parameters stay as they were */
                cursor?: string;
                /** @description Those that named this device */
                deviceId?: string;
                /** @description Those refused with this error */
                error?: "INVALID_PARAMS" | "FORBIDDEN" | "PAYLOAD_TOO_LARGE" | "RATE_LIMITED";
                /** @description The earliest `receivedAt` */
                from?: string;
                /** @description Those sent with this key */
                keyId?: string;
                /** @description How many things a page holds at most */
                limit?: number;
                /** @description The `receivedAt` before which it ends */
                to?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Lists reports that were refused, the latest first */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 200;
                        data: components["schemas"]["RejectionPage"];
                        /** @description For people */
                        message: string;
                        /** @constant */
                        success: true;
                    };
                };
            };
        };
    };
    getRejectionSummary: {
        parameters: {
            query?: {
                /** @description Those that named this device */
                deviceId?: string;
                /** @description Those refused with this error */
                error?: "INVALID_PARAMS" | "FORBIDDEN" | "PAYLOAD_TOO_LARGE" | "RATE_LIMITED";
                /** @description The earliest `receivedAt` */
                from?: string;
                /** @description Those sent with this key */
                keyId?: string;
                /** @description The `receivedAt` before which it ends */
                to?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description How many reports were refused, by error, key and device */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 200;
                        data: components["schemas"]["RejectionSummary"];
                        /** @description For people */
                        message: string;
                        /** @constant */
                        success: true;
                    };
                };
            };
        };
    };
    getSession: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Who is signed in, and until when */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 200;
                        data: components["schemas"]["SignedIn"];
                        /** @description For people */
                        message: string;
                        /** @constant */
                        success: true;
                    };
                };
            };
        };
    };
    signIn: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    email: string;
                    password: string;
                };
            };
        };
        responses: {
            /** @description Signs in */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 200;
                        data: components["schemas"]["SignedIn"];
                        /** @description For people */
                        message: string;
                        /** @constant */
                        success: true;
                    };
                };
            };
        };
    };
    signOut: {
        parameters: {
            query?: never;
            header?: {
                /** @description Must be `console` where the session cookie is sent */
                "X-Requested-With"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Signs out */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 200;
                        /**
                         * @description Always null
                         * @constant
                         */
                        data: unknown;
                        /** @description For people */
                        message: string;
                        /** @constant */
                        success: true;
                    };
                };
            };
        };
    };
    changePassword: {
        parameters: {
            query?: never;
            header?: {
                /** @description Must be `console` where the session cookie is sent */
                "X-Requested-With"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    current: string;
                    next: string;
                };
            };
        };
        responses: {
            /** @description Changes one’s own password; the other sessions end */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 200;
                        /**
                         * @description Always null
                         * @constant
                         */
                        data: unknown;
                        /** @description For people */
                        message: string;
                        /** @constant */
                        success: true;
                    };
                };
            };
        };
    };
    getShared: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Where the devices of a share are */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 200;
                        data: components["schemas"]["Shared"];
                        /** @description For people */
                        message: string;
                        /** @constant */
                        success: true;
                    };
                };
            };
        };
    };
    followShared: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The positions of a share’s devices as they come */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
        };
    };
    listShares: {
        parameters: {
            query?: {
                /** @description The `nextCursor` of the page before; the other parameters stay as they were */
                cursor?: string;
                /** @description How many things a page holds at most */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Lists shares, newest first, those that have expired for 7 days more */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 200;
                        data: components["schemas"]["SharePage"];
                        /** @description For people */
                        message: string;
                        /** @constant */
                        success: true;
                    };
                };
            };
        };
    };
    createShare: {
        parameters: {
            query?: never;
            header?: {
                /** @description Must be `console` where the session cookie is sent */
                "X-Requested-With"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    deviceIds: string[];
                    /** Format: date-time */
                    expiresAt: string;
                    name: string;
                    /** @default 0 */
                    trailMinutes?: number | null;
                };
            };
        };
        responses: {
            /** @description Makes a link that shows some devices; its token is shown this once */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 201;
                        data: components["schemas"]["ShareWithToken"];
                        /** @description For people */
                        message: string;
                        /** @constant */
                        success: true;
                    };
                };
            };
        };
    };
    deleteShare: {
        parameters: {
            query?: never;
            header?: {
                /** @description Must be `console` where the session cookie is sent */
                "X-Requested-With"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Revokes a share: its link shows nothing any more */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 200;
                        /**
                         * @description Always null
                         * @constant
                         */
                        data: unknown;
                        /** @description For people */
                        message: string;
                        /** @constant */
                        success: true;
                    };
                };
            };
        };
    };
    followStream: {
        parameters: {
            query?: {
                /** @description Only what is about this device */
                deviceId?: string;
                /** @description Which events come, separated by commas; position and device-status where it is not given */
                events?: string;
            };
            header?: {
                /** @description The last `id` that was seen: what came after it is sent first */
                "Last-Event-ID"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Positions, device statuses and more as they come */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
        };
    };
    getSystem: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description How the service is doing */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 200;
                        data: components["schemas"]["System"];
                        /** @description For people */
                        message: string;
                        /** @constant */
                        success: true;
                    };
                };
            };
        };
    };
    getSystemHistory: {
        parameters: {
            query?: {
                /** @description How far back; the last minute is the current one */
                minutes?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description How the service has been doing, minute by minute, from the oldest */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 200;
                        data: components["schemas"]["SystemHistory"];
                        /** @description For people */
                        message: string;
                        /** @constant */
                        success: true;
                    };
                };
            };
        };
    };
    sendTestReport: {
        parameters: {
            query?: never;
            header?: {
                /** @description Must be `console` where the session cookie is sent */
                "X-Requested-With"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    key: string;
                    /**
                     * @example {
                     *       "deviceId": "my-device"
                     *     }
                     */
                    report: {
                        [key: string]: unknown;
                    };
                };
            };
        };
        responses: {
            /** @description Sends a report with an API key of the account, as a device would */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 200;
                        data: components["schemas"]["TestReportAnswer"];
                        /** @description For people */
                        message: string;
                        /** @constant */
                        success: true;
                    };
                };
            };
        };
    };
}
