use super::Token;

#[test]
fn a_token_equals_only_itself() {
    let token = Token::random();
    assert_eq!(token.as_str().len(), 32);
    assert!(token.is(token.as_str()));
    let text = token.as_str().to_owned();
    assert!(!token.is(&text[..31]));
    assert!(!token.is(&format!("{text}0")));
    assert!(!token.is(""));
    assert!(!token.is(Token::random().as_str()));
}
