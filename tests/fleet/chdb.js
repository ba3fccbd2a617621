// SPDX-License-Identifier: BSD-2-Clause
// chdb.js MODULES FOLDER PORT: ClickHouse's HTTP interface on loopback for chdb, as far as it is needed: a query is in the address, in the body, or begins in the
// one and goes on in the other; an INSERT in RowBinary has its rows in the body; bodies may be gzip. One request after the other.
'use strict';
const fs = require('fs');
const http = require('http');
const path = require('path');
const zlib = require('zlib');

const [modules, folder, port] = process.argv.slice(2);
const { Session } = require(path.join(modules, 'chdb'));
const session = new Session(folder);
const rows = path.join(folder, 'rows.bin');

async function run(query, body) {
    if (/\bFORMAT\s+RowBinary\s*;?\s*$/i.test(query)) {
        fs.writeFileSync(rows, body); // the library takes no binary rows from memory
        await session.queryAsync(query.replace(/\bFORMAT\s+RowBinary\s*;?\s*$/i, () => `SELECT * FROM file('${rows}', 'RowBinary')`));
        return '';
    }
    const answer = await session.queryAsync(`${query}\n${body.toString()}`, { format: 'TabSeparated' });
    return Buffer.from(answer.bytes());
}

let last = Promise.resolve();
http.createServer((request, response) => {
    const parts = [];
    request.on('data', (part) => parts.push(part));
    request.on('end', () => {
        last = last.then(async () => {
            let status = 200;
            let text = 'Ok.\n';
            try {
                const url = new URL(request.url, 'http://localhost');
                let body = Buffer.concat(parts);
                if (request.headers['content-encoding'] === 'gzip') {
                    body = zlib.gunzipSync(body);
                }
                const query = url.searchParams.get('query') || '';
                if (query || body.length) {
                    text = await run(query, body);
                }
            } catch (e) {
                status = 500;
                text = `${e.message}\n`;
            }
            response.writeHead(status, { 'Content-Type': 'text/plain; charset=UTF-8' });
            response.end(text);
        });
    });
}).listen(Number(port), '127.0.0.1');
