//! A server that speaks as much of PostgreSQL's protocol as the client needs, with three statements
//! for one table.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex};

use bytes::{Buf as _, BufMut as _, Bytes, BytesMut};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

pub(super) const INSERT: &str = "INSERT INTO entries (key, value) VALUES ($1, $2) \
                                 ON CONFLICT (key) DO UPDATE SET value = $2";
pub(super) const SELECT: &str = "SELECT value FROM entries WHERE key = $1";
/// For simple queries.
pub(super) const ALL: &str = "SELECT key, value FROM entries";

/// The numbers of types in PostgreSQL's catalogue.
const INT8: i32 = 20;
const TEXT: i32 = 25;

/// The table. It outlives the server's process, as a disk does.
pub(super) type Disk = Arc<Mutex<BTreeMap<String, i64>>>;

pub(super) async fn serve(disk: Disk) -> io::Result<()> {
    let listener = TcpListener::bind("0.0.0.0:5432").await?;
    loop {
        let (tcp, _) = listener.accept().await?;
        tokio::spawn(serve_client(tcp, Arc::clone(&disk)));
    }
}

async fn serve_client(mut tcp: TcpStream, disk: Disk) -> io::Result<()> {
    // The startup message has no tag.
    read_body(&mut tcp).await?;
    let mut session = Session::new(disk);
    session.reply(b'R', |body| body.put_i32(0));
    session.ready();
    loop {
        tcp.write_all_buf(&mut session.replies).await?;
        let tag = tcp.read_u8().await?;
        let body = read_body(&mut tcp).await?;
        if tag == b'X' {
            return Ok(());
        }
        session.handle(tag, body);
    }
}

async fn read_body(tcp: &mut TcpStream) -> io::Result<Bytes> {
    let length = tcp.read_u32().await?;
    let mut body = vec![0; length as usize - 4];
    tcp.read_exact(&mut body).await?;
    Ok(body.into())
}

/// A connection of a client.
struct Session {
    disk: Disk,
    /// What was not sent yet.
    replies: BytesMut,
    /// The texts of prepared statements, by their names.
    statements: BTreeMap<String, String>,
    /// The text and the arguments of the statement that is to be executed.
    bound: (String, Vec<Bytes>),
}

impl Session {
    fn new(disk: Disk) -> Self {
        Self {
            disk,
            replies: BytesMut::new(),
            statements: BTreeMap::new(),
            bound: (String::new(), Vec::new()),
        }
    }

    fn reply(&mut self, tag: u8, write: impl FnOnce(&mut BytesMut)) {
        let mut body = BytesMut::new();
        write(&mut body);
        self.replies.put_u8(tag);
        self.replies.put_u32(body.len() as u32 + 4);
        self.replies.put(body);
    }

    /// Says that the next query may come, outside a transaction.
    fn ready(&mut self) {
        self.reply(b'Z', |body| body.put_u8(b'I'));
    }

    fn complete(&mut self, text: &str) {
        self.reply(b'C', |body| put_text(body, text));
    }

    fn handle(&mut self, tag: u8, mut body: Bytes) {
        match tag {
            b'Q' => self.query(&take_text(&mut body)),
            b'P' => {
                let name = take_text(&mut body);
                self.statements.insert(name, take_text(&mut body));
                self.reply(b'1', |_| {});
            }
            b'D' => {
                assert_eq!(body.get_u8(), b'S', "the client describes statements only");
                let statement = self.statements[&take_text(&mut body)].clone();
                self.describe(&statement);
            }
            b'B' => {
                let _portal = take_text(&mut body);
                let statement = self.statements[&take_text(&mut body)].clone();
                for _ in 0..body.get_u16() {
                    assert_eq!(body.get_u16(), 1, "the client sends binary arguments");
                }
                let mut arguments = Vec::new();
                for _ in 0..body.get_u16() {
                    let length = body.get_u32() as usize;
                    arguments.push(body.split_to(length));
                }
                self.bound = (statement, arguments);
                self.reply(b'2', |_| {});
            }
            b'E' => self.execute(),
            b'C' => {
                body.advance(1);
                self.statements.remove(&take_text(&mut body));
                self.reply(b'3', |_| {});
            }
            b'S' => self.ready(),
            _ => panic!("a message {:?} from the client", char::from(tag)),
        }
    }

    /// Runs a simple query, whose results are text.
    fn query(&mut self, statement: &str) {
        assert_eq!(statement, ALL);
        self.reply(b'T', |body| {
            put_columns(body, &[("key", TEXT), ("value", INT8)]);
        });
        let entries = self.disk.lock().unwrap().clone();
        for (key, value) in &entries {
            self.reply(b'D', |body| {
                put_row(body, &[key.as_bytes(), value.to_string().as_bytes()]);
            });
        }
        self.complete(&format!("SELECT {}", entries.len()));
        self.ready();
    }

    fn describe(&mut self, statement: &str) {
        let parameters: &[i32] = match statement {
            INSERT => &[TEXT, INT8],
            SELECT => &[TEXT],
            _ => panic!("an unknown statement: {statement}"),
        };
        self.reply(b't', |body| {
            body.put_u16(parameters.len() as u16);
            parameters.iter().for_each(|ty| body.put_i32(*ty));
        });
        match statement {
            SELECT => self.reply(b'T', |body| put_columns(body, &[("value", INT8)])),
            _ => self.reply(b'n', |_| {}),
        }
    }

    fn execute(&mut self) {
        let (statement, arguments) = std::mem::take(&mut self.bound);
        let key = String::from_utf8(arguments[0].to_vec()).unwrap();
        if statement == INSERT {
            let value = arguments[1].clone().get_i64();
            self.disk.lock().unwrap().insert(key, value);
            return self.complete("INSERT 0 1");
        }
        let found = self.disk.lock().unwrap().get(&key).copied();
        if let Some(value) = found {
            self.reply(b'D', |body| put_row(body, &[&value.to_be_bytes()]));
        }
        self.complete(&format!("SELECT {}", u8::from(found.is_some())));
    }
}

fn take_text(body: &mut Bytes) -> String {
    let end = body.iter().position(|byte| *byte == 0);
    let text = body.split_to(end.expect("a text ends with a zero"));
    body.advance(1);
    String::from_utf8(text.to_vec()).unwrap()
}

fn put_text(body: &mut BytesMut, text: &str) {
    body.put_slice(text.as_bytes());
    body.put_u8(0);
}

fn put_columns(body: &mut BytesMut, columns: &[(&str, i32)]) {
    body.put_u16(columns.len() as u16);
    for (name, ty) in columns {
        put_text(body, name);
        // The table and the number of the column in it are unknown.
        body.put_i32(0);
        body.put_i16(0);
        body.put_i32(*ty);
        // Neither a fixed length, nor a modifier, nor a binary format.
        body.put_i16(-1);
        body.put_i32(-1);
        body.put_i16(0);
    }
}

fn put_row(body: &mut BytesMut, values: &[&[u8]]) {
    body.put_u16(values.len() as u16);
    for value in values {
        body.put_u32(value.len() as u32);
        body.put_slice(value);
    }
}
